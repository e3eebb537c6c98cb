#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>
    /// Puts the broker into MCP clients' files and takes it out again, without touching anything else there. Everything
    /// that goes wrong is reported in the result; nothing is thrown, and then nothing was written.
    /// </summary>
    public sealed class McpConfigService
    {
        public const string ServerName = "unity";

        private readonly McpClientTable table;
        private readonly McpConfigRepository repository;
        private readonly ConfigMachine machine;
        private readonly IReadOnlyCollection<string> addresses;

        /// <param name="addresses">
        /// Addresses by which an entry is known as ours; the command line's default is one.
        /// </param>
        public McpConfigService(
            McpClientTable table,
            McpConfigRepository repository,
            ConfigMachine machine,
            IReadOnlyCollection<string>? addresses = null)
        {
            this.table = table;
            this.repository = repository;
            this.machine = machine;
            this.addresses = addresses ?? new[] { "http://127.0.0.1:8787/mcp" };
        }

        /// <summary>Every client of the table with the state of its user's file.</summary>
        public IReadOnlyList<McpClientState> Look() => table.Clients.Select(State).ToList();

        /// <summary>Adds our entry, or brings one of ours up to date; a foreign entry of that name stays.</summary>
        public McpConfigResult Install(string clientId, DateTime now) => Change(clientId, now, (client, file, path) =>
        {
            var there = JsonTextEdit.Root(file.Text)?.At(path);
            if (there != null && !McpServerEntry.IsOurs(there, addresses)) throw Foreign(file, "choose another name for one of them");
            var launch = BrokerLaunch.Read(machine);
            if (launch == null) throw new IOException(CommandFor(client));
            var wanted = McpServerEntry.Of(client, launch);
            var changes = there == null ? null : McpServerEntry.Changes(there, wanted);
            if (changes == null) return Checked(file.Text, JsonTextEdit.Set(file.Text, path, wanted), path, wanted);
            return changes.Aggregate(file.Text, (text, change) =>
            {
                var field = path.Append(change.Key).ToList();
                return Checked(text, JsonTextEdit.Set(text, field, change.Value), field, change.Value);
            });
        });

        /// <summary>Takes our entry out; a foreign entry of that name stays.</summary>
        public McpConfigResult Remove(string clientId, DateTime now) => Change(clientId, now, (client, file, path) =>
        {
            var there = JsonTextEdit.Root(file.Text)?.At(path);
            if (there == null) return file.Text;
            if (!McpServerEntry.IsOurs(there, addresses)) throw Foreign(file, "remove it manually if it should go");
            return Checked(file.Text, JsonTextEdit.Remove(file.Text, path), path, null);
        });

        private McpClientState State(McpClient client)
        {
            var path = machine.UserFile(client);
            if (client.Format == ClientFormat.Toml)
            {
                return new McpClientState(client, path, ClientInstallation.CommandLineOnly, CommandFor(client));
            }
            try
            {
                var there = JsonTextEdit.Root(repository.Read(path).Text)?.At(PathIn(client));
                var launch = BrokerLaunch.Read(machine);
                if (there == null)
                {
                    return launch == null
                        ? new McpClientState(client, path, ClientInstallation.CommandLineOnly, CommandFor(client))
                        : new McpClientState(client, path, ClientInstallation.Absent, "");
                }
                if (!McpServerEntry.IsOurs(there, addresses))
                {
                    var note = $"Another server is named {ServerName}.";
                    return new McpClientState(client, path, ClientInstallation.Foreign, note);
                }
                var isSame = launch == null || McpServerEntry.Changes(there, McpServerEntry.Of(client, launch))?.Count == 0;
                return isSame
                    ? new McpClientState(client, path, ClientInstallation.Installed, "")
                    : new McpClientState(client, path, ClientInstallation.Different, "Installed with another start command.");
            }
            catch (Exception error) when (error is IOException || error is FormatException)
            {
                return new McpClientState(client, path, ClientInstallation.Unreadable, error.Message);
            }
        }

        private McpConfigResult Change(string clientId, DateTime now, Func<McpClient, McpConfigFile, List<string>, string> edit)
        {
            var client = table.Clients.FirstOrDefault(one => one.Id == clientId);
            if (client == null) return new McpConfigResult(false, $"There is no client {clientId}.", null);
            if (client.Format == ClientFormat.Toml) return new McpConfigResult(false, CommandFor(client), null);
            try
            {
                var file = repository.Read(machine.UserFile(client));
                var text = Edited(file, () => edit(client, file, PathIn(client)));
                if (text == file.Text) return new McpConfigResult(false, $"{file.Path}: nothing to change.", null);
                var backup = repository.Replace(file, text, now);
                return new McpConfigResult(true, $"{file.Path} was written. {client.Afterwards}", backup);
            }
            catch (IOException error)
            {
                return new McpConfigResult(false, error.Message, null);
            }
        }

        /// <summary>Whatever stops an edit is in the file: it is named, and the file stays.</summary>
        private static string Edited(McpConfigFile file, Func<string> edit)
        {
            try
            {
                return edit();
            }
            catch (FormatException error)
            {
                throw new IOException($"{file.Path} was left as it is ({error.Message}): correct that, then try again", error);
            }
        }

        /// <summary>
        /// The text after an edit; throws FormatException when the edit changed anything but what is at the path, or
        /// did not bring that about: the files are other programs' and other people's.
        /// </summary>
        private static string Checked(string before, string after, IReadOnlyList<string> path, JToken? value)
        {
            var wanted = value == null ? null : JsonTextParser.Parse(value.ToString(Formatting.None));
            var now = JsonTextEdit.Root(after);
            var rest = JsonNode.Same(
                JsonTextEdit.Root(Bare(before, path)), JsonTextEdit.Root(Bare(after, path)));
            if (rest && JsonNode.Same(now?.At(path), wanted)) return after;
            throw new FormatException(string.Join(".", path) + " cannot be changed without changing something else");
        }

        /// <summary>Without what is at the path, and without tables on the way that are empty then.</summary>
        private static string Bare(string text, IReadOnlyList<string> path)
        {
            var bare = JsonTextEdit.Remove(text, path);
            for (var depth = path.Count - 1; depth > 0; depth--)
            {
                var way = path.Take(depth).ToList();
                if (JsonTextEdit.Root(bare)?.At(way)?.Properties.Count == 0) bare = JsonTextEdit.Remove(bare, way);
            }
            return JsonTextEdit.Root(bare) == null ? "{}" : bare;
        }

        private static List<string> PathIn(McpClient client) => client.Servers.Append(ServerName).ToList();

        private static string CommandFor(McpClient client)
        {
            var why = client.Format == ClientFormat.Toml
                ? $"{client.Title}'s file is TOML"
                : "No broker has run on this machine yet";
            return $"{why}: run \"unity-broker install {client.Id}\" to install.";
        }

        private static IOException Foreign(McpConfigFile file, string whatToDo) => new IOException(
            $"{file.Path} has a server {ServerName} that is not this broker, and was left as it is: {whatToDo}");
    }
}
