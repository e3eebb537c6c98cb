#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>The command line of this machine's broker: how it is started, before what it is asked to do.</summary>
    public sealed class BrokerProgram
    {
        private BrokerProgram(string command, IReadOnlyList<string> arguments)
        {
            Command = command;
            Arguments = arguments;
        }

        public string Command { get; }

        public IReadOnlyList<string> Arguments { get; }

        /// <summary>As a client writes it whose user installs the broker later.</summary>
        internal static BrokerProgram ByName { get; } = new BrokerProgram("unity-broker", Array.Empty<string>());

        /// <summary>
        /// As the broker noted it in the home folder when it last ran; null where none has run yet, or that one is gone.
        /// </summary>
        internal static BrokerProgram? Noted(ConfigMachine machine)
        {
            try
            {
                var note = JObject.Parse(File.ReadAllText(Path.Combine(machine.Home, ".unity-job-broker", "launch.json")));
                var command = (string?)note["command"];
                var arguments = note["args"]?.Select(word => (string?)word ?? "").ToList();
                if (command == null || arguments == null || arguments.LastOrDefault() != "mcp") return null;
                arguments.RemoveAt(arguments.Count - 1);
                // "node" is found on the path; the broker itself is named by its own.
                var program = arguments.Count > 0 ? arguments[0] : command;
                return Path.IsPathRooted(program) && File.Exists(program) ? new BrokerProgram(command, arguments) : null;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException
                || error is JsonException || error is InvalidOperationException || error is InvalidCastException
                || error is ArgumentException)
            {
                return null;
            }
        }

        /// <summary>One that can be run here, by its full path: the noted one, else one on the path; null where neither is.</summary>
        internal static BrokerProgram? Find(ConfigMachine machine)
        {
            var noted = Noted(machine);
            if (noted != null && machine.PathOf(noted.Command) is { } program) return new BrokerProgram(program, noted.Arguments);
            return machine.PathOf(ByName.Command) is { } own ? new BrokerProgram(own, Array.Empty<string>()) : null;
        }

        /// <summary>Arguments for a start of the program; null when one has a quotation mark, which no path of ours has.</summary>
        internal string? ArgumentsFor(params string[] words)
        {
            var all = Arguments.Concat(words).ToList();
            return all.Any(word => word.Contains("\"")) ? null : string.Join(" ", all.Select(word => $"\"{word}\""));
        }
    }
}
