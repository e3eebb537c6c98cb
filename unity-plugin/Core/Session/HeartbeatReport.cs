#nullable enable
using System;
using System.Diagnostics;
using JobBroker.Bridge.Api;
using JobBroker.Bridge.Execution;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Session
{
    /// <summary>The content of a heartbeat. Called on the heartbeat's own thread; waits for nothing that the main thread holds.</summary>
    internal sealed class HeartbeatReport : IDisposable
    {
        private readonly McpSessionManager session;
        private readonly ExecutionEngine engine;
        private readonly OperationQueue queue;
        private readonly MainThreadMonitor mainThread;
        private readonly Func<string> phase;
        private readonly Process process = Process.GetCurrentProcess();

        public HeartbeatReport(
            McpSessionManager session,
            ExecutionEngine engine,
            OperationQueue queue,
            MainThreadMonitor mainThread,
            Func<string> phase)
        {
            this.session = session;
            this.engine = engine;
            this.queue = queue;
            this.mainThread = mainThread;
            this.phase = phase;
        }

        public JObject Create()
        {
            process.Refresh();
            var json = new JObject
            {
                ["editorSessionId"] = session.EditorSessionId,
                ["generation"] = session.Generation,
                ["assetCounter"] = session.Editor.AssetCounter,
                ["phase"] = phase(),
                ["mainThreadStallMs"] = mainThread.StallMs,
                ["focused"] = session.Editor.Focused,
                ["queued"] = queue.Count,
                ["memory"] = process.WorkingSet64,
                ["cpu"] = (long)process.TotalProcessorTime.TotalMilliseconds,
            };
            var running = engine.Current;
            if (running != null) json["runningOperationId"] = running.OperationId;
            return json;
        }

        public void Dispose() => process.Dispose();
    }
}
