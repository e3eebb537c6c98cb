#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.Threading;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Push
{
    /// <summary>
    /// Tells the worker of reloads and changes, as lines of JSON to the endpoint that it announced. A push is a
    /// courtesy: the other channel says the same, so what cannot be delivered at once is given up, and the next push
    /// connects again. No member but <see cref="Stop"/> waits for anything; all may be called from any thread.
    /// </summary>
    public sealed class UnityPushClient
    {
        private const int MaxWaiting = 256;
        private const int MaxPayloadChars = 32 * 1024;
        private const int PatienceMs = 1000;

        /// <summary>How often the end of an idle connection is looked for.</summary>
        private const int IdleMs = 200;

        private readonly object gate = new object();
        private readonly Queue<Step> waiting = new Queue<Step>();
        private readonly IClock clock;
        private readonly IBridgeLog log;
        private readonly BridgeThread thread;
        private PushEndpoint? endpoint;
        private Stopwatch? stopping;
        private int graceMs;
        private PushLink? link;

        public UnityPushClient(IClock clock, IBridgeLog log)
        {
            this.clock = clock;
            this.log = log;
            thread = BridgeThread.Start("push", Run, error => log.Warn("Nothing is pushed any more: " + error));
        }

        private enum Act
        {
            Connect,
            Say,
            End,
        }

        /// <summary>
        /// The endpoint as it was announced; null without one. To be kept by the caller over a domain reload.
        /// </summary>
        public string? Endpoint
        {
            get
            {
                lock (gate) return endpoint?.Text;
            }
        }

        /// <summary>
        /// Connects to `host:port`, `port` or `tcp://host:port` on this machine, in place of an earlier one; false for
        /// anything else, which changes nothing.
        /// </summary>
        /// <param name="key">Said first on each connection, and nowhere else; null where the worker told none.</param>
        public bool ConnectTo(string announced, string? key = null)
        {
            var read = PushEndpoint.Read(announced, key, out var reason);
            if (read == null)
            {
                log.Warn("A push endpoint was refused: " + reason + ".");
                return false;
            }
            lock (gate)
            {
                endpoint = read;
                Add(new Step(Act.Connect, read, ""));
            }
            return true;
        }

        /// <summary>
        /// Queues one line; nothing happens without an endpoint. When too many wait, the oldest is given up.
        /// </summary>
        public void Push(string type, JObject? payload = null)
        {
            if (!PushTypes.Contains(type)) throw new ArgumentException("No push is a " + type + ".", nameof(type));
            var line = Line(type, payload ?? new JObject());
            lock (gate)
            {
                if (endpoint != null) Add(new Step(Act.Say, endpoint, line));
            }
        }

        /// <summary>
        /// Ends the connection behind what was pushed, as a domain reload does; the next push connects again.
        /// </summary>
        public void Drop()
        {
            lock (gate)
            {
                if (endpoint != null) Add(new Step(Act.End, endpoint, ""));
            }
        }

        /// <summary>Ends the connection behind what was pushed and forgets the endpoint.</summary>
        public void Close(bool sayDisconnect)
        {
            if (sayDisconnect) Push(PushTypes.UserDisconnect);
            Drop();
            lock (gate) endpoint = null;
        }

        /// <summary>
        /// Ends the thread; what was pushed before has half of the time to leave. True when it ended in time.
        /// </summary>
        public bool Stop(int milliseconds)
        {
            lock (gate)
            {
                endpoint = null;
                graceMs = milliseconds / 2;
                stopping ??= Stopwatch.StartNew();
                Monitor.Pulse(gate);
            }
            return thread.Join(milliseconds);
        }

        private void Add(Step step)
        {
            if (stopping != null) return;
            if (waiting.Count == MaxWaiting) waiting.Dequeue();
            waiting.Enqueue(step);
            Monitor.Pulse(gate);
        }

        private void Run()
        {
            try
            {
                while (TryTake(out var step))
                {
                    if (link != null && !link.IsAlive()) End();
                    if (step != null) Do(step);
                }
            }
            finally
            {
                End();
            }
        }

        /// <summary>False when it is time to end; null when nothing came for a while.</summary>
        private bool TryTake(out Step? step)
        {
            lock (gate)
            {
                var patience = link == null ? Timeout.Infinite : IdleMs;
                if (waiting.Count == 0 && stopping == null) Monitor.Wait(gate, patience);
                step = waiting.Count > 0 && !GivenUp() ? waiting.Dequeue() : null;
                return step != null || stopping == null;
            }
        }

        private void Do(Step step)
        {
            if (step.Act == Act.End || (link != null && (step.Act == Act.Connect || !link.To.Equals(step.To)))) End();
            if (step.Act == Act.End) return;
            if (link == null)
            {
                link = PushLink.Open(step.To, PatienceMs, GivenUp);
                if (link == null || !link.Write(Greeting(step.To.Key), PatienceMs, GivenUp))
                {
                    End();
                    GiveUp(step.To);
                    return;
                }
            }
            if (step.Act == Act.Connect || link.Write(step.Line, PatienceMs, GivenUp)) return;
            End();
            GiveUp(step.To);
        }

        /// <summary>Drops what waits for a peer that is not there; each of them would wait as long again.</summary>
        private void GiveUp(PushEndpoint to)
        {
            lock (gate)
            {
                while (waiting.Count > 0 && waiting.Peek().IsLineTo(to)) waiting.Dequeue();
            }
        }

        private bool GivenUp()
        {
            lock (gate) return stopping != null && stopping.ElapsedMilliseconds > graceMs;
        }

        private void End()
        {
            link?.Close();
            link = null;
        }

        private string Greeting(string? key)
        {
            var payload = new JObject
            {
                ["clientId"] = "unity_" + Process.GetCurrentProcess().Id.ToString(CultureInfo.InvariantCulture),
                ["connectionTime"] = Now(),
            };
            if (key != null) payload["key"] = key;
            return Line(PushTypes.ConnectionEstablished, payload);
        }

        private string Line(string type, JObject payload)
        {
            var text = payload.ToString(Formatting.None);
            if (text.Length > MaxPayloadChars)
            {
                log.Warn("The payload of a push (" + type + ", " + text.Length + " characters) is left out: too long.");
                text = "{}";
            }
            return "{\"type\":\"" + type + "\",\"timestamp\":\"" + Now() + "\",\"payload\":" + text + "}\n";
        }

        private string Now() =>
            DateTimeOffset.FromUnixTimeMilliseconds(clock.NowMs).UtcDateTime
                .ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture);

        private sealed class Step
        {
            public Step(Act act, PushEndpoint to, string line)
            {
                Act = act;
                To = to;
                Line = line;
            }

            public Act Act { get; }

            public PushEndpoint To { get; }

            public string Line { get; }

            public bool IsLineTo(PushEndpoint to) => Act == Act.Say && To.Equals(to);
        }
    }
}
