#nullable enable
namespace JobBroker.Bridge.Push
{
    /// <summary>The six messages of the push channel (docs/reference/protocol.md, "Push channel").</summary>
    public static class PushTypes
    {
        /// <summary>Sent by the client itself, first on each connection.</summary>
        public const string ConnectionEstablished = "CONNECTION_ESTABLISHED";

        public const string DomainReload = "DOMAIN_RELOAD";
        public const string DomainReloadRecovered = "DOMAIN_RELOAD_RECOVERED";
        public const string ToolsChanged = "TOOLS_CHANGED";
        public const string UserDisconnect = "USER_DISCONNECT";
        public const string UnityShutdown = "UNITY_SHUTDOWN";

        internal static bool Contains(string type) =>
            type == ConnectionEstablished || type == DomainReload || type == DomainReloadRecovered
            || type == ToolsChanged || type == UserDisconnect || type == UnityShutdown;
    }
}
