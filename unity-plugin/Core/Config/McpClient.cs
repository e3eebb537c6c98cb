#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>An MCP client that the command line's <c>install</c> knows.</summary>
    public sealed class McpClient
    {
        private readonly string servers;

        private McpClient(string id, string title, string servers = "mcpServers")
        {
            Id = id;
            Title = title;
            this.servers = servers;
        }

        /// <summary>Those of the command line's own table (src/cli/clients/clients.json).</summary>
        public static IReadOnlyList<McpClient> All { get; } = Array.AsReadOnly(new[]
        {
            new McpClient("claude-code", "Claude Code"),
            new McpClient("claude-desktop", "Claude Desktop"),
            new McpClient("cursor", "Cursor"),
            new McpClient("vscode", "VS Code", "servers"),
            new McpClient("windsurf", "Windsurf"),
            new McpClient("codex", "Codex", "mcp_servers"),
            new McpClient("gemini", "Gemini CLI"),
            new McpClient("antigravity", "Antigravity"),
        });

        public string Id { get; }

        /// <summary>As its makers write it.</summary>
        public string Title { get; }

        /// <summary>What a person puts into the client's file to have it start that broker.</summary>
        internal string Configuration(BrokerProgram broker)
        {
            var arguments = broker.Arguments.Append("mcp").ToArray();
            if (servers == "mcp_servers")
            {
                return $"[mcp_servers.unity]\ncommand = {JsonConvert.ToString(broker.Command)}\n"
                    + $"args = {JsonConvert.SerializeObject(arguments)}\nstartup_timeout_sec = 60\ntool_timeout_sec = 120\n";
            }
            var entry = new JObject { ["command"] = broker.Command, ["args"] = new JArray(arguments) };
            if (servers == "servers") entry.AddFirst(new JProperty("type", "stdio"));
            return new JObject { [servers] = new JObject { ["unity"] = entry } }.ToString(Formatting.Indented) + "\n";
        }
    }
}
