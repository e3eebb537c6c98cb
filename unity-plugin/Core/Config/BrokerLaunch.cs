#nullable enable
using System;
using System.IO;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Config
{
    /// <summary>
    /// How this machine's broker is started, as it noted itself in the home folder (launch.json): by its full path. By a
    /// package's name a client would run any package published under that name.
    /// </summary>
    internal static class BrokerLaunch
    {
        /// <summary>Null where no broker has run here yet, or the one that did is gone.</summary>
        public static LaunchCommand? Read(ConfigMachine machine)
        {
            try
            {
                var file = Path.Combine(machine.Home, ".unity-job-broker", "launch.json");
                var note = JObject.Parse(File.ReadAllText(file));
                var command = (string?)note["command"];
                var arguments = note["args"]?.Select(word => (string?)word ?? "").ToList();
                if (command == null || arguments == null || arguments.LastOrDefault() != "mcp") return null;
                // "node" is found on the path; the broker itself is named by its own.
                var program = arguments.Count > 1 ? arguments[0] : command;
                return Path.IsPathRooted(program) && File.Exists(program) ? new LaunchCommand(command, arguments) : null;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException
                || error is JsonException || error is InvalidOperationException || error is InvalidCastException
                || error is ArgumentException)
            {
                return null;
            }
        }
    }
}
