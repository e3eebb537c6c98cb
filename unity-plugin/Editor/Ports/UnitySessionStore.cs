#nullable enable
using JobBroker.Bridge.Ports;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Unity's SessionState: it survives a domain reload and not the process. Main thread only.</summary>
    internal sealed class UnitySessionStore : ISessionStore
    {
        /// <summary>Stored text begins with it, so that an empty text is not taken for none.</summary>
        private const string Mark = "=";

        public string? Get(string key)
        {
            var stored = SessionState.GetString(key, "");
            return stored.Length == 0 ? null : stored.Substring(Mark.Length);
        }

        public void Set(string key, string? value)
        {
            if (value == null) SessionState.EraseString(key);
            else SessionState.SetString(key, Mark + value);
        }
    }
}
