#nullable enable
using System.Collections.Generic;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    public enum ClientFormat
    {
        /// <summary>The client documents plain JSON.</summary>
        Json,

        /// <summary>It reads comments too.</summary>
        JsonWithComments,

        Toml,
    }

    /// <summary>An MCP client as the table describes it; never changes.</summary>
    public sealed class McpClient
    {
        internal McpClient(
            string id,
            string title,
            ClientFormat format,
            IReadOnlyList<string> servers,
            IReadOnlyDictionary<string, string> files,
            string? projectFile,
            JObject stdio,
            string afterwards,
            string source)
        {
            Id = id;
            Title = title;
            Format = format;
            Servers = servers;
            Files = files;
            ProjectFile = projectFile;
            Stdio = stdio;
            Afterwards = afterwards;
            Source = source;
        }

        public string Id { get; }

        /// <summary>As its makers write it.</summary>
        public string Title { get; }

        public ClientFormat Format { get; }

        /// <summary>The keys under which a file lists its servers by name.</summary>
        public IReadOnlyList<string> Servers { get; }

        /// <summary>The user's own file by system: darwin, linux, win32.</summary>
        public IReadOnlyDictionary<string, string> Files { get; }

        /// <summary>Relative to a project's folder; null where the client has no such file.</summary>
        public string? ProjectFile { get; }

        /// <summary>The entry of a server that the client starts, with {command} and {args} to fill in.</summary>
        public JObject Stdio { get; }

        /// <summary>What the user does for the client to notice.</summary>
        public string Afterwards { get; }

        /// <summary>The page that decides all this.</summary>
        public string Source { get; }
    }

    /// <summary>A command and its arguments.</summary>
    public sealed class LaunchCommand
    {
        public LaunchCommand(string command, IReadOnlyList<string> arguments)
        {
            Command = command;
            Arguments = arguments;
        }

        public string Command { get; }

        public IReadOnlyList<string> Arguments { get; }
    }
}
