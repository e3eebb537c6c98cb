#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Threading;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// The frames to be written to one peer, bounded in bytes. Adding never blocks; one thread takes.
    /// </summary>
    internal sealed class OutboundQueue
    {
        /// <summary>Larger frames are not copied: beside them a write of their own costs nothing.</summary>
        private const int JoinedBytes = 64 * 1024;

        private readonly object gate = new object();
        private readonly Queue<Outgoing> waiting = new Queue<Outgoing>();
        private readonly int maxBytes;
        private long bytes;
        private bool finished;

        public OutboundQueue(int maxBytes) => this.maxBytes = maxBytes;

        internal enum Added
        {
            Yes,

            /// <summary>Nothing may follow any more.</summary>
            Finished,

            /// <summary>The peer does not read, or the frame alone is over the bound.</summary>
            Full,
        }

        /// <summary>Whether nothing may be added any more; what waits is still written.</summary>
        public bool IsFinished
        {
            get
            {
                lock (gate) return finished;
            }
        }

        /// <param name="frame">Owned by the queue from now on.</param>
        /// <param name="afterwards">Called by the taker when the frame was written.</param>
        /// <param name="last">Finishes the queue behind this frame, in the same step.</param>
        public Added Add(byte[] frame, Action? afterwards, bool last)
        {
            lock (gate)
            {
                if (finished) return Added.Finished;
                if (bytes + frame.Length > maxBytes) return Added.Full;
                bytes += frame.Length;
                waiting.Enqueue(new Outgoing(frame, afterwards));
                finished = last;
                Monitor.Pulse(gate);
                return Added.Yes;
            }
        }

        public void Finish()
        {
            lock (gate)
            {
                finished = true;
                Monitor.Pulse(gate);
            }
        }

        /// <summary>
        /// The oldest frames, after waiting up to <paramref name="milliseconds"/> for one; null when there is none.
        /// Small ones that wait together come as one, so that they are one write.
        /// </summary>
        /// <param name="drained">True when the queue is finished and empty.</param>
        public Outgoing? Take(int milliseconds, out bool drained)
        {
            lock (gate)
            {
                if (waiting.Count == 0 && !finished) Monitor.Wait(gate, milliseconds);
                drained = waiting.Count == 0 && finished;
                return waiting.Count == 0 ? null : TakeJoined();
            }
        }

        /// <summary>Releases the bytes of a written frame: it counts against the bound until then.</summary>
        public void Written(Outgoing frame)
        {
            lock (gate) bytes -= frame.Bytes.Length;
        }

        /// <summary>A continuation belongs to the last byte of its frame, so nothing is joined behind it.</summary>
        private Outgoing TakeJoined()
        {
            var last = waiting.Dequeue();
            if (!FitsBehind(last, last.Bytes.Length)) return last;
            var joined = new MemoryStream();
            joined.Write(last.Bytes, 0, last.Bytes.Length);
            while (FitsBehind(last, joined.Length))
            {
                last = waiting.Dequeue();
                joined.Write(last.Bytes, 0, last.Bytes.Length);
            }
            return new Outgoing(joined.ToArray(), last.Afterwards);
        }

        private bool FitsBehind(Outgoing last, long joinedBytes) =>
            last.Afterwards == null && waiting.Count > 0 && joinedBytes + waiting.Peek().Bytes.Length <= JoinedBytes;

        internal sealed class Outgoing
        {
            public Outgoing(byte[] bytes, Action? afterwards)
            {
                Bytes = bytes;
                Afterwards = afterwards;
            }

            public byte[] Bytes { get; }

            public Action? Afterwards { get; }
        }
    }
}
