#nullable enable
using System;
using System.Globalization;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Window;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>The bridge's options out of the user's settings and the environment.</summary>
    public static class StartOptions
    {
        public const string PortVariable = "UNITY_TCP_PORT";

        /// <summary>Where the worker looks for endpoint files; the same variable as the worker's.</summary>
        public const string EditorsFolderVariable = "UNITY_BROKER_EDITORS_DIR";

        /// <param name="environment">The value of an environment variable; null when it is not set.</param>
        /// <param name="fault">A sentence about an invalid environment variable; null when all are valid.</param>
        public static BridgeOptions Of(BridgeSettings settings, Func<string, string?> environment, out string? fault)
        {
            fault = null;
            var port = settings.Port;
            var written = environment(PortVariable);
            if (!string.IsNullOrEmpty(written))
            {
                if (int.TryParse(written, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && IsPort(number))
                {
                    port = number;
                }
                else
                {
                    fault = $"{PortVariable} is \"{written}\", which is not a port (1 to 65535), and is ignored.";
                }
            }
            var folder = environment(EditorsFolderVariable);
            return new BridgeOptions
            {
                Port = port,
                PlainSurface = settings.PlainSurface,
                EndpointFolder = string.IsNullOrEmpty(folder) ? null : folder,
            };
        }

        public static bool IsPort(int number) => number >= 1 && number <= 65535;
    }
}
