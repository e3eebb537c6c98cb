#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;

namespace JobBroker.Metas;

/// <summary>A package's folder with its .meta files: what is wrong with them, and the missing ones made.</summary>
public sealed class MetaTree
{
    /// <summary>
    /// Lists, beside the generator, files that were moved: their meta keeps the GUID of the old path.
    /// </summary>
    private const string MovedList = "DotNet~/Metas/moved.txt";

    private readonly string root;

    public MetaTree(string root)
    {
        this.root = root;
    }

    /// <summary>
    /// Makes what is missing and answers the paths. A meta that is there is never touched: references hang on its GUID.
    /// </summary>
    public IReadOnlyList<string> Generate()
    {
        var made = new List<string>();
        foreach (var (path, isFolder) in Visible())
        {
            var meta = Path.Combine(root, path + ".meta");
            if (File.Exists(meta)) continue;
            File.WriteAllText(meta, MetaText.For(path, isFolder));
            made.Add(path);
        }
        return made;
    }

    /// <summary>Everything that is wrong, a sentence each; none when all is well.</summary>
    public IReadOnlyList<string> Faults()
    {
        var faults = new List<string>();
        var visible = Visible().ToList();
        var moved = Moved();
        var owners = new Dictionary<string, string>();
        foreach (var (path, isFolder) in visible)
        {
            var file = Path.Combine(root, path + ".meta");
            if (!File.Exists(file))
            {
                faults.Add($"{path} has no meta: run the generator.");
                continue;
            }
            var text = File.ReadAllText(file);
            var guid = MetaText.GuidIn(text);
            if (guid == null || !MetaText.Fits(text, path, isFolder))
            {
                faults.Add($"{path}.meta is not the meta of such a file: delete it and run the generator.");
                continue;
            }
            var frozen = moved.TryGetValue(path, out var from) ? from : path;
            if (guid != MetaText.GuidOf(frozen))
            {
                faults.Add($"{path}.meta was changed. A moved file keeps its GUID: name it in {MovedList}, \"new path <- old path\".");
            }
            if (!owners.TryAdd(guid, path)) faults.Add($"{path}.meta has the GUID of {owners[guid]}.meta.");
        }
        var wanted = visible.Select(one => one.Path + ".meta").ToHashSet(StringComparer.Ordinal);
        faults.AddRange(Metas().Where(meta => !wanted.Contains(meta)).Select(meta => $"{meta} belongs to nothing: delete it."));
        return faults;
    }

    /// <summary>What Unity imports: no names that end in ~ or begin with a dot, no metas.</summary>
    private IEnumerable<(string Path, bool IsFolder)> Visible() => Entries("")
        .Where(one => !one.Path.EndsWith(".meta", StringComparison.Ordinal))
        .OrderBy(one => one.Path, StringComparer.Ordinal);

    private IEnumerable<string> Metas() =>
        Entries("").Where(one => !one.IsFolder).Select(one => one.Path).Where(path => path.EndsWith(".meta", StringComparison.Ordinal));

    private IEnumerable<(string Path, bool IsFolder)> Entries(string folder)
    {
        foreach (var entry in new DirectoryInfo(Path.Combine(root, folder)).EnumerateFileSystemInfos())
        {
            if (entry.Name.StartsWith('.') || entry.Name.EndsWith('~')) continue;
            var path = folder.Length == 0 ? entry.Name : folder + "/" + entry.Name;
            var isFolder = entry is DirectoryInfo;
            yield return (path, isFolder);
            if (!isFolder) continue;
            foreach (var inner in Entries(path)) yield return inner;
        }
    }

    private Dictionary<string, string> Moved()
    {
        var list = Path.Combine(root, MovedList);
        if (!File.Exists(list)) return [];
        return File.ReadAllLines(list)
            .Select(line => line.Split(" <- "))
            .Where(parts => parts.Length == 2)
            .ToDictionary(parts => parts[0].Trim(), parts => parts[1].Trim());
    }
}
