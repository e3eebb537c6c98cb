#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Tools
{
    /// <summary>Which tools may leave the main thread. Almost no Unity API is thread-safe, so the list is closed.</summary>
    public static class ToolLanes
    {
        public const string Main = "main";
        public const string Background = "background";

        /// <summary>How many background operations run side by side; the main lane runs one.</summary>
        public const int BackgroundWidth = 4;

        private static readonly HashSet<string> OffMainThread = new HashSet<string>(StringComparer.Ordinal) { "ping", "get-logs" };

        public static string Of(string tool) => OffMainThread.Contains(tool) ? Background : Main;
    }
}
