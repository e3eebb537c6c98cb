#nullable enable
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Writes the bridge's log to the Editor's console. Any thread: Unity's log is thread-safe.</summary>
    internal sealed class UnityLog : IBridgeLog
    {
        private const string Prefix = "[Unity Job Broker] ";

        public void Info(string message) => Debug.Log(Prefix + message);

        public void Warn(string message) => Debug.LogWarning(Prefix + message);
    }
}
