#nullable enable
namespace JobBroker.Bridge.Endpoint
{
    /// <summary>How a worker reaches this Editor process.</summary>
    public sealed class EndpointRecord
    {
        public EndpointRecord(
            int processId, long processStartedAtMs, int port, string token, string unityVersion, string phase)
        {
            ProcessId = processId;
            ProcessStartedAtMs = processStartedAtMs;
            Port = port;
            Token = token;
            UnityVersion = unityVersion;
            Phase = phase;
        }

        public int ProcessId { get; }

        /// <summary>Milliseconds since the Unix epoch.</summary>
        public long ProcessStartedAtMs { get; }

        public int Port { get; }

        /// <summary>A caller that proves to hold it may run tools here; only this user may read it.</summary>
        public string Token { get; }

        public string UnityVersion { get; }

        public string Phase { get; }
    }
}
