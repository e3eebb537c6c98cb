#nullable enable
using System;
using System.Diagnostics;
using System.Net;
using System.Net.Sockets;
using System.Threading;
using JobBroker.Bridge.Framing;
using JobBroker.Bridge.Security;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Wire
{
    /// <summary>
    /// One accepted connection: a thread that reads and one that writes; the second of them to end closes the socket
    /// and notifies the handler. The socket never blocks, so both end within <see cref="FrameWriter.PollMs"/> of a
    /// request to stop.
    /// </summary>
    internal sealed class BridgeConnection : IPeer
    {
        private const int ChunkBytes = 32 * 1024;

        private readonly Socket socket;
        private readonly IRequestHandler handler;
        private readonly WireLimits limits;
        private readonly IBridgeLog log;
        private readonly Action<BridgeConnection> ended;
        private readonly OutboundQueue outbound;
        private readonly FrameParser parser;
        private readonly Stopwatch sinceWritten = new Stopwatch();
        private readonly FrameWriter writer;
        private BridgeThread? reading;
        private BridgeThread? writing;
        private int running = 2;
        private readonly Stopwatch sinceAccepted = Stopwatch.StartNew();
        private volatile bool admitted;
        private volatile bool aborted;
        private volatile bool written;

        /// <param name="ended">
        /// Called once, on one of the connection's threads, before the handler is notified.
        /// </param>
        public BridgeConnection(
            int id,
            Socket socket,
            IRequestHandler handler,
            WireLimits limits,
            IBridgeLog log,
            Action<BridgeConnection> ended)
        {
            Id = id;
            this.socket = socket;
            this.handler = handler;
            this.limits = limits;
            this.log = log;
            this.ended = ended;
            LocalAddress = EditorProof.AddressOf((IPEndPoint)socket.LocalEndPoint);
            outbound = new OutboundQueue(limits.OutboundBytes);
            parser = new FrameParser(limits.FrameBytes);
            writer = new FrameWriter(id, socket, limits, log, () => aborted, () => outbound.IsFinished);
        }

        public int Id { get; }

        public string LocalAddress { get; }

        public bool IsAdmitted => admitted;

        /// <summary>Its threads end without writing the queued frames.</summary>
        public bool IsAborted => aborted;

        /// <summary>Milliseconds without a proof; null once it is admitted or aborted.</summary>
        public long? StrangerForMs => admitted || aborted ? (long?)null : sinceAccepted.ElapsedMilliseconds;

        public bool IsOpen => !aborted && !outbound.IsFinished;

        public void Start()
        {
            writing = BridgeThread.Start("write-" + Id, Write, Crashed);
            reading = BridgeThread.Start("read-" + Id, Read, Crashed);
        }

        public void Admit() => admitted = true;

        public void Notify(string method, JObject parameters)
        {
            if (IsOpen) Send(FrameParser.Encode(JsonRpcProcessor.Notification(method, parameters)), null, false);
        }

        /// <summary>Queues a whole frame, which must not change from now on.</summary>
        public void Send(byte[] frame, Action? afterwards, bool last)
        {
            if (outbound.Add(frame, afterwards, last) != OutboundQueue.Added.Full || aborted) return;
            log.Warn("Connection " + Id + " does not read: more than " + limits.OutboundBytes + " bytes wait. Closed.");
            Abort();
        }

        public void Close() => outbound.Finish();

        /// <summary>Aborts the connection without writing the queued frames. Does not wait.</summary>
        public void Abort()
        {
            aborted = true;
            outbound.Finish();
            try
            {
                // Only wakes the two threads sooner; closing is left to them.
                socket.Shutdown(SocketShutdown.Both);
            }
            catch (Exception error) when (error is SocketException || error is ObjectDisposedException)
            {
                // Gone already.
            }
        }

        /// <summary>Waits for the end of the writing thread; false on timeout.</summary>
        public bool JoinWriting(int milliseconds) => writing!.Join(milliseconds);

        public bool JoinReading(int milliseconds) => reading!.Join(milliseconds);

        private void Read()
        {
            try
            {
                var chunk = new byte[ChunkBytes];
                while (!aborted && !(written && sinceWritten.ElapsedMilliseconds > limits.LingerMs))
                {
                    if (!socket.Poll(FrameWriter.PollMs * 1000, SelectMode.SelectRead)) continue;
                    var count = socket.Receive(chunk, 0, chunk.Length, SocketFlags.None, out var error);
                    if (FrameWriter.IsForNow(error)) continue;
                    if (count == 0) break;
                    // Input after the last answer is read and discarded: closing with unread input would reset the
                    // connection.
                    if (outbound.IsFinished) continue;
                    parser.Push(chunk, 0, count);
                    while (!outbound.IsFinished && parser.TryNext(out var frame)) Take(frame);
                }
            }
            catch (Exception error) when (error is SocketException || error is ObjectDisposedException)
            {
                Abort();
            }
            finally
            {
                outbound.Finish();
                Leave();
            }
        }

        private void Take(Frame frame)
        {
            if (frame.Kind == FrameKind.Malformed)
            {
                log.Info("Connection " + Id + " closed: " + frame.Text);
                Fail(null, new RpcError(ErrorCodes.ParseError, frame.Text), true);
                return;
            }
            if (frame.Kind == FrameKind.TooLong)
            {
                var message = "A frame of " + frame.Length + " bytes is over the limit of " + limits.FrameBytes + ".";
                Fail(null, new RpcError(ErrorCodes.FrameTooLarge, message), false);
                return;
            }
            var read = JsonRpcProcessor.Parse(frame.Text);
            if (read.Kind == RpcKind.Invalid) Fail(read.Id, read.Error!, false);
            if (read.Kind == RpcKind.Notification) TakeNotification(read);
            if (read.Kind != RpcKind.Request) return;
            var answered = 0;
            void Once(Answer answer)
            {
                if (Interlocked.Exchange(ref answered, 1) == 0) Reply(read.Id!, answer);
            }

            writer.AwaitSettled();
            try
            {
                handler.Handle(this, read.Method, read.Value, Once);
            }
            catch (Exception error)
            {
                log.Warn("A request's handler threw " + error);
                Once(Internal(error.Message));
            }
        }

        private void TakeNotification(RpcMessage notification)
        {
            try
            {
                handler.Notified(this, notification.Method, notification.Value);
            }
            catch (Exception error)
            {
                log.Warn("A notification's handler threw " + error);
            }
        }

        private void Reply(JToken id, Answer answer)
        {
            if (!IsOpen) return;
            string text;
            try
            {
                text = answer.Value == null
                    ? JsonRpcProcessor.Failure(id, new RpcError(answer.Code, answer.Message, answer.Data))
                    : JsonRpcProcessor.Result(id, answer.Value);
            }
            catch (JsonException error)
            {
                answer = Internal("The answer cannot be written as JSON: " + error.Message);
                text = JsonRpcProcessor.Failure(id, new RpcError(answer.Code, answer.Message, answer.Data));
            }
            var frame = FrameParser.Encode(text);
            if (frame.Length > limits.OutboundBytes)
            {
                var message = "An answer of " + frame.Length + " bytes is over " + limits.OutboundBytes + ".";
                Fail(id, new RpcError(ErrorCodes.InternalError, message, Internal("").Data), answer.Closes);
                return;
            }
            Send(frame, answer.Afterwards, answer.Closes);
        }

        private void Fail(JToken? id, RpcError error, bool last) =>
            Send(FrameParser.Encode(JsonRpcProcessor.Failure(id, error)), null, last);

        private static Answer Internal(string message) =>
            Answer.Error(ErrorCodes.InternalError, message, new JObject { ["type"] = "internal_error" });

        private void Write()
        {
            try
            {
                while (!aborted)
                {
                    var next = outbound.Take(FrameWriter.PollMs, out var drained);
                    if (drained) break;
                    if (next == null) continue;
                    if (!writer.Write(next))
                    {
                        Abort();
                        return;
                    }
                    outbound.Written(next);
                }
                if (!aborted) socket.Shutdown(SocketShutdown.Send);
            }
            catch (Exception error) when (error is SocketException || error is ObjectDisposedException)
            {
                Abort();
            }
            finally
            {
                sinceWritten.Start();
                written = true;
                outbound.Finish();
                Leave();
            }
        }

        private void Crashed(Exception error)
        {
            log.Warn("Connection " + Id + " ended by " + error);
            Abort();
        }

        private void Leave()
        {
            if (Interlocked.Decrement(ref running) > 0) return;
            socket.Close();
            ended(this);
            try
            {
                handler.Closed(this);
            }
            catch (Exception error)
            {
                log.Warn("The end of connection " + Id + " threw " + error);
            }
        }
    }
}
