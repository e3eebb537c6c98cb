#nullable enable
using System;
using System.Threading;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools
{
    /// <summary>How far a call is; may be reported from any thread.</summary>
    public interface IProgressSink
    {
        /// <summary>
        /// Reports the progress of the call; sent at most four times a second, the last report always.
        /// </summary>
        /// <param name="progress">Grows from report to report.</param>
        /// <param name="total">What <paramref name="progress"/> ends at; null when unknown.</param>
        /// <param name="partialResult">What the result would hold so far; becomes JSON at once.</param>
        void Report(double progress, double? total = null, string? message = null, object? partialResult = null);
    }

    /// <summary>What one running call may use beside its arguments.</summary>
    public sealed class ToolContext
    {
        private readonly Action<JToken> saveResumeRecord;
        private volatile bool reloadAnnounced;

        public ToolContext(string operationId, IProgressSink progress, CancellationToken cancellation, Action<JToken> saveResumeRecord)
        {
            OperationId = operationId;
            Progress = progress;
            Cancellation = cancellation;
            this.saveResumeRecord = saveResumeRecord;
        }

        /// <summary>The id of the operation that this call executes; the same after a domain reload.</summary>
        public string OperationId { get; }

        public IProgressSink Progress { get; }

        /// <summary>
        /// Cancelled when cancellation was requested and the tool is cancellable, or when the call was abandoned.
        /// </summary>
        public CancellationToken Cancellation { get; }

        /// <summary>
        /// Keeps what <see cref="IResumableTool.ResumeAsync"/> needs after a domain reload. Main thread only.
        /// </summary>
        public void SaveResumeRecord(JToken record) => saveResumeRecord(record);

        /// <summary>
        /// Announces that the Editor reloads its script domain after this call, because of it: the next generation is
        /// then no
        /// change since. Not to be called in the script domain that the reload has already made.
        /// </summary>
        public void AnnounceReload() => reloadAnnounced = true;

        internal bool ReloadAnnounced => reloadAnnounced;
    }

    /// <summary>A failure with a type that callers can act on; it becomes the outcome's error.</summary>
    public sealed class ToolException : Exception
    {
        /// <summary>The type of a call whose arguments do not fit the tool.</summary>
        public const string InvalidArguments = "invalid_arguments";

        /// <summary>The type of a running call that a domain reload has cut: the outcome is interrupted.</summary>
        public const string DomainReload = "domain_reload";

        /// <summary>The type of a call of which nobody knows whether it did its work: the outcome is interrupted.</summary>
        public const string OutcomeUnknown = "outcome_unknown";

        private readonly string? stack;

        /// <param name="type">In snake_case, for example menu_item_not_found.</param>
        /// <param name="stack">The stack that callers are shown; null shows where this was thrown.</param>
        public ToolException(string type, string message, Exception? inner = null, string? stack = null)
            : base(message, inner)
        {
            Type = type;
            this.stack = stack;
        }

        public string Type { get; }

        public override string? StackTrace => stack ?? base.StackTrace;
    }
}
