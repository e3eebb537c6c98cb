#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Config;

namespace JobBroker.Bridge.Tests.Config;

/// <summary>A home folder with the files of MCP clients in it; removed at the end.</summary>
internal sealed class TemporaryHome : IDisposable
{
    public static readonly McpClientTable Table =
        McpClientTable.Parse(File.ReadAllText(Path.Combine(Repository.Root, "unity-plugin", "Core", "Config", "clients.json")));

    public string Folder { get; } = Directory.CreateTempSubdirectory("jb-home-").FullName;

    public ConfigMachine Machine => new("linux", new Dictionary<string, string>(), Folder);

    public McpConfigService Service => new(Table, new McpConfigRepository(), Machine);

    /// <summary>The file of a broker, and its note of it.</summary>
    public string NoteBroker()
    {
        var main = Path.Combine(Folder, ".broker", "dist", "cli", "main.js");
        Directory.CreateDirectory(Path.GetDirectoryName(main)!);
        File.WriteAllText(main, "");
        var note = new Newtonsoft.Json.Linq.JObject
        {
            ["command"] = "node",
            ["args"] = new Newtonsoft.Json.Linq.JArray(main, "mcp"),
        };
        WriteNote(note.ToString());
        return main;
    }

    public void WriteNote(string text)
    {
        Directory.CreateDirectory(Path.Combine(Folder, ".unity-job-broker"));
        File.WriteAllText(Path.Combine(Folder, ".unity-job-broker", "launch.json"), text);
    }

    public string FileOf(string client) => Machine.UserFile(Table.Clients.Single(one => one.Id == client));

    public string Write(string client, string text)
    {
        var path = FileOf(client);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllText(path, text);
        return path;
    }

    public McpClientState StateOf(string client) => Service.Look().Single(state => state.Client.Id == client);

    /// <summary>Every file of a client under this home, so that a test sees what was left behind.</summary>
    public IReadOnlyList<string> Files() => Directory.GetFiles(Folder, "*", SearchOption.AllDirectories)
        .Select(path => Path.GetRelativePath(Folder, path))
        .Where(path => !path.StartsWith(".broker") && !path.StartsWith(".unity-job-broker"))
        .Order()
        .ToList();

    public void Dispose() => Directory.Delete(Folder, true);
}
