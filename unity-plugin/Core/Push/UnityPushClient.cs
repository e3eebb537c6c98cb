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
    /// Sends reloads and changes to the worker, as lines of JSON to the endpoint that it announced. Pushes are best
    /// effort: the other channel reports the same, so a push that cannot be delivered at once is dropped, and the next
    /// one connects again. Only <see cref="Stop"/> waits; all members may be called from any thread.
    /// </summary>
    public sealed class UnityPushClient
    {
        private const int MaxWaiting = 256;
        private const int MaxPayloadChars = 32 * 1024;
        private const int PatienceMs = 1000;

        /// <summary>How often an idle connection is checked.</summary>
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
            thread = BridgeThread.Start("push", Run, error => log.Warn("The push thread ended: " + error));
        }

        private enum Act
        {
            Connect,
            Send,
            End,
        }

        /// <summary>
        /// The endpoint as announced, or null. The caller keeps it over a domain reload.
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
        /// <param name="key">
        /// Sent with the first message of each connection and nowhere else; null when the worker announced none.
        /// </param>
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
                Add(new Step(Act.Connect, read));
            }
            return true;
        }

        /// <summary>
        /// Queues one line; does nothing without an endpoint. When the queue is full, the oldest is dropped.
        /// </summary>
        public void Push(string type, JObject? payload = null) => Push(type, () => payload ?? new JObject());

        /// <summary>The same with a payload that the client's own thread makes, so that the caller does not wait for it.</summary>
        public void Push(string type, Func<JObject> payload)
        {
            if (!PushTypes.Contains(type)) throw new ArgumentException("Unknown push type " + type + ".", nameof(type));
            var atMs = clock.NowMs;
            lock (gate)
            {
                if (endpoint != null) Add(new Step(Act.Send, endpoint, () => Line(type, atMs, payload())));
            }
        }

        /// <summary>
        /// Closes the connection after the queued pushes, as a domain reload does; the next push connects again.
        /// </summary>
        public void Drop()
        {
            lock (gate)
            {
                if (endpoint != null) Add(new Step(Act.End, endpoint));
            }
        }

        /// <summary>Closes the connection after the queued pushes and forgets the endpoint.</summary>
        public void Close(bool announceDisconnect)
        {
            if (announceDisconnect) Push(PushTypes.UserDisconnect);
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
                if (link == null || !link.Write(ConnectionEstablished(step.To.Key), PatienceMs, GivenUp))
                {
                    End();
                    GiveUp(step.To);
                    return;
                }
            }
            if (step.Act == Act.Connect || link.Write(step.Line(), PatienceMs, GivenUp)) return;
            End();
            GiveUp(step.To);
        }

        /// <summary>Drops the lines queued for an unreachable peer: each would wait for the same timeout.</summary>
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

        private string ConnectionEstablished(string? key)
        {
            var payload = new JObject
            {
                ["clientId"] = "unity_" + Process.GetCurrentProcess().Id.ToString(CultureInfo.InvariantCulture),
                ["connectionTime"] = Time(clock.NowMs),
            };
            if (key != null) payload["key"] = key;
            return Line(PushTypes.ConnectionEstablished, clock.NowMs, payload);
        }

        private string Line(string type, long atMs, JObject payload)
        {
            var text = payload.ToString(Formatting.None);
            if (text.Length > MaxPayloadChars)
            {
                log.Warn("The payload of a push (" + type + ", " + text.Length + " characters) is left out: too long.");
                text = "{}";
            }
            return "{\"type\":\"" + type + "\",\"timestamp\":\"" + Time(atMs) + "\",\"payload\":" + text + "}\n";
        }

        private static string Time(long atMs) =>
            DateTimeOffset.FromUnixTimeMilliseconds(atMs).UtcDateTime
                .ToString("yyyy-MM-ddTHH:mm:ss.fffZ", CultureInfo.InvariantCulture);

        private sealed class Step
        {
            public Step(Act act, PushEndpoint to, Func<string>? line = null)
            {
                Act = act;
                To = to;
                Line = line ?? (() => "");
            }

            public Act Act { get; }

            public PushEndpoint To { get; }

            /// <summary>Made on the client's own thread.</summary>
            public Func<string> Line { get; }

            public bool IsLineTo(PushEndpoint to) => Act == Act.Send && To.Equals(to);
        }
    }
}
