#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>The clients of clients.json: the very table that the command line reads.</summary>
    public sealed class McpClientTable
    {
        private McpClientTable(IReadOnlyList<McpClient> clients)
        {
            Clients = clients;
        }

        /// <summary>A table without clients.</summary>
        public static McpClientTable Empty { get; } = new McpClientTable(Array.Empty<McpClient>());

        public IReadOnlyList<McpClient> Clients { get; }

        /// <summary>Reads the table; throws FormatException when it is not one.</summary>
        public static McpClientTable Parse(string json)
        {
            try
            {
                var table = JObject.Parse(json);
                return new McpClientTable(table["clients"]!.Cast<JObject>().Select(Client).ToList());
            }
            catch (Exception error) when (error is JsonException || error is NullReferenceException
                || error is ArgumentException || error is InvalidCastException || error is InvalidOperationException)
            {
                throw new FormatException("clients.json is not the table of MCP clients: " + error.Message, error);
            }
        }

        private static McpClient Client(JObject row) => new McpClient(
            Text(row, "id"),
            Text(row, "title"),
            FormatOf(Text(row, "format")),
            row["servers"]!.Select(key => (string)key!).ToList(),
            ((JObject)row["file"]!).Properties().ToDictionary(file => file.Name, file => (string)file.Value!),
            (string?)row["projectFile"],
            (JObject)row["stdio"]!.DeepClone(),
            Text(row, "afterwards"),
            Text(row, "source"));

        private static string Text(JObject row, string key) =>
            (string?)row[key] ?? throw new FormatException("clients.json: a client has no " + key + ".");

        private static ClientFormat FormatOf(string word)
        {
            switch (word)
            {
                case "json":
                    return ClientFormat.Json;
                case "jsonc":
                    return ClientFormat.JsonWithComments;
                case "toml":
                    return ClientFormat.Toml;
                default:
                    throw new FormatException("clients.json: unknown format " + word + ".");
            }
        }
    }
}
