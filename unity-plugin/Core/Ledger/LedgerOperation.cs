#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The states of an operation in the Editor's ledger (docs/reference/protocol.md, section 4), as they are written
    /// on the
    /// wire.
    /// </summary>
    public static class LedgerState
    {
        public const string Accepted = "accepted";
        public const string Running = "running";
        public const string Completed = "completed";
        public const string Failed = "failed";
        public const string Cancelled = "cancelled";
        public const string Interrupted = "interrupted";
        public const string Revoked = "revoked";
        public const string NotStarted = "not_started";

        /// <summary>True for the four states that have an outcome.</summary>
        public static bool HasEnded(string state) =>
            state == Completed || state == Failed || state == Cancelled || state == Interrupted;

        public static bool IsOpen(string state) => state == Accepted || state == Running;
    }

    /// <summary>
    /// The end of an execution. Times in milliseconds since the Unix epoch. Never changed once it was made.
    /// </summary>
    public sealed class Outcome
    {
        public Outcome(
            string status,
            JsonText? result,
            string? errorType,
            string? errorMessage,
            string? stack,
            long? startedAt,
            long endedAt,
            JObject? endedIn = null)
        {
            Status = status;
            Result = result;
            ErrorType = errorType;
            ErrorMessage = errorMessage;
            Stack = stack;
            StartedAt = startedAt;
            EndedAt = endedAt;
            EndedIn = endedIn;
        }

        /// <summary>completed, failed, cancelled or interrupted.</summary>
        public string Status { get; }

        /// <summary>
        /// Null where there is none, and in the ledger's copy also where it lies in a file of its own: ask
        /// <see cref="OperationLedger.ResultOf"/>.
        /// </summary>
        public JsonText? Result { get; }

        /// <summary>A completed outcome has one only when its result was lost: <see cref="ResultLost"/>.</summary>
        public string? ErrorType { get; }

        public string? ErrorMessage { get; }

        public string? Stack { get; }

        /// <summary>Null when the execution never began.</summary>
        public long? StartedAt { get; }

        public long EndedAt { get; }

        /// <summary>
        /// Where the Editor stood when an execution ended (session, generation, asset counter), in the words of the
        /// wire;
        /// null when it never began, or when that is unknown.
        /// </summary>
        public JObject? EndedIn { get; }

        /// <summary>The error type of an execution that completed and whose result cannot be read any more.</summary>
        public const string ResultLost = "result_lost";

        public static Outcome Completed(JsonText result, long startedAt, long endedAt) =>
            new Outcome(LedgerState.Completed, result, null, null, null, startedAt, endedAt);

        /// <summary>failed, cancelled or interrupted; without <paramref name="startedAt"/> it never began.</summary>
        public static Outcome Error(
            string status, string type, string message, long? startedAt, long endedAt, string? stack = null) =>
            new Outcome(status, null, type, message, stack, startedAt, endedAt);

        internal Outcome WithoutResult() =>
            new Outcome(Status, null, ErrorType, ErrorMessage, Stack, StartedAt, EndedAt, EndedIn);

        internal Outcome In(JObject standing) =>
            new Outcome(Status, Result, ErrorType, ErrorMessage, Stack, StartedAt, EndedAt, standing);

        /// <summary>The same end without its result, with the error that says so; an existing error stays.</summary>
        internal Outcome WithLostResult(string why) =>
            ErrorType != null
                ? WithoutResult()
                : new Outcome(Status, null, ResultLost, why, null, StartedAt, EndedAt, EndedIn);
    }

    /// <summary>One operation as the ledger knows it. Changed only by the ledger, under its gate.</summary>
    public sealed class LedgerOperation
    {
        public LedgerOperation(string operationId)
        {
            OperationId = operationId;
        }

        public string OperationId { get; }

        public string State { get; internal set; } = LedgerState.Accepted;

        /// <summary>Null when the id was revoked before it was ever submitted.</summary>
        public string? Hash { get; set; }

        public string? After { get; set; }

        /// <summary>Who asked for it: opaque here, kept so that a lost store can be rebuilt.</summary>
        public JObject? Origin { get; set; }

        public string? Tool { get; set; }

        /// <summary>Null again once the operation has ended: nothing runs it any more, and they may be large.</summary>
        public JObject? Arguments { get; set; }

        public string? ArgumentsHash { get; set; }

        /// <summary>Milliseconds on the store's clock; null when never submitted.</summary>
        public long? AcceptedAt { get; set; }

        public long? StartedAt { get; internal set; }

        public Outcome? Outcome { get; internal set; }

        /// <summary>
        /// When the broker had the outcome durably; of a revoked or not_started one: when it became that.
        /// </summary>
        public long? AcknowledgedAt { get; internal set; }

        /// <summary>Where the result lies when it is too large for the journal; null otherwise.</summary>
        internal StoredResult? StoredResult { get; set; }

        /// <summary>Reads live in memory only: in no journal and no chain.</summary>
        public bool ReadOnly { get; set; }
    }

    /// <summary>
    /// The pair that orders owners: the higher epoch wins; with equal epochs only the same nonce is the same owner.
    /// </summary>
    public sealed class Fence
    {
        public Fence(long epoch, string ownerNonce)
        {
            Epoch = epoch;
            OwnerNonce = ownerNonce;
        }

        public long Epoch { get; }

        public string OwnerNonce { get; }
    }
}
