#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>
    /// The answer to <c>bridge/hello</c> after the proof: the Editor's identity and the content of its ledger. Any
    /// thread.
    /// </summary>
    internal sealed class Handshake
    {
        public const int ProtocolVersion = 1;

        private readonly FenceGate fence;
        private readonly OperationLedger ledger;
        private readonly UnityToolRegistry tools;
        private readonly McpSessionManager session;
        private readonly Func<string> phase;
        private readonly int heartbeatMs;
        private readonly Action notifyUnacknowledged;
        private volatile IReadOnlyList<string>? saidLabels;

        public Handshake(
            FenceGate fence,
            OperationLedger ledger,
            UnityToolRegistry tools,
            McpSessionManager session,
            Func<string> phase,
            int heartbeatMs,
            Action notifyUnacknowledged)
        {
            this.fence = fence;
            this.ledger = ledger;
            this.tools = tools;
            this.session = session;
            this.phase = phase;
            this.heartbeatMs = heartbeatMs;
            this.notifyUnacknowledged = notifyUnacknowledged;
        }

        public Answer Answer(IPeer peer, HelloParams parameters)
        {
            // The first one of a script domain describes every tool: not while the main thread may wait for the gate.
            tools.Hash();
            lock (ledger.Gate)
            {
                var refused = fence.Enter(peer, parameters);
                if (refused != null) return refused;
                session.WorkerConnected(parameters.BrokerId, parameters.Version);
                return Wire.Answer.Result(Content()).Then(notifyUnacknowledged);
            }
        }

        /// <summary>
        /// Ends the worker's connection if the labels are others now than its hello was told: its next hello is answered with
        /// those. Any thread.
        /// </summary>
        public void SayAgainIfOutdated(WorkerSeat seat)
        {
            if (!seat.IsHeld || !IsOutdated()) return;
            // A hello that is being answered has its connection seated and does not know yet what it says.
            lock (ledger.Gate)
            {
                if (IsOutdated()) seat.Vacate();
            }
        }

        private bool IsOutdated() =>
            saidLabels is { } said && !ReferenceEquals(said, session.Editor.Labels) && !said.SequenceEqual(session.Editor.Labels);

        private JObject Content()
        {
            var editor = session.Editor;
            var json = new JObject
            {
                ["protocol"] = ProtocolVersion,
                ["editorId"] = session.EditorId,
                ["projectName"] = editor.ProjectName,
                ["projectPath"] = editor.ProjectPath,
                ["unityVersion"] = editor.UnityVersion,
                ["pid"] = editor.ProcessId,
                ["editorSessionId"] = session.EditorSessionId,
                ["generation"] = session.Generation,
                ["assetCounter"] = editor.AssetCounter,
                ["ledgerId"] = ledger.LedgerId,
                ["ledgerSeq"] = ledger.LedgerSeq,
            };
            if (ledger.PreviousSession is { } previous)
            {
                json["previousSession"] = new JObject
                {
                    ["editorSessionId"] = previous.EditorSessionId,
                    ["ledgerSeq"] = previous.LedgerSeq,
                };
            }
            json["toolsHash"] = tools.Hash();
            json["phase"] = phase();
            json["heartbeatSeconds"] = heartbeatMs / 1000.0;
            if (editor.LogFile != null) json["logFile"] = editor.LogFile;
            var labels = saidLabels = editor.Labels;
            if (labels.Count > 0) json["labels"] = new JArray(labels);
            json["open"] = WireJson.IdsAndStates(ledger.Open());
            json["unacknowledged"] = WireJson.Ids(ledger.Unacknowledged());
            return json;
        }
    }
}
