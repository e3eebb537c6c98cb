#nullable enable
namespace JobBroker.Bridge.Ledger
{
    /// <summary>What the planner reads of an operation.</summary>
    public sealed class OpenOperation
    {
        public OpenOperation(string operationId, string state, bool readOnly, bool resumable)
        {
            OperationId = operationId;
            State = state;
            ReadOnly = readOnly;
            Resumable = resumable;
        }

        public string OperationId { get; }

        public string State { get; }

        public bool ReadOnly { get; }

        /// <summary>Its tool left a record to go on from.</summary>
        public bool Resumable { get; }
    }

    public enum RecoveryAction
    {
        /// <summary>It never began: queue it again, in the order of acceptance.</summary>
        Requeue,

        /// <summary>It never began, and the worker decides whether it still shall.</summary>
        NotStarted,

        /// <summary>Its tool resumes it from its resume record.</summary>
        Resume,

        /// <summary>It began, and how far it came is unknown.</summary>
        Interrupt,

        /// <summary>A read that only memory knew.</summary>
        Forget,
    }

    public sealed class RecoveryStep
    {
        public RecoveryStep(string operationId, RecoveryAction action, string reason)
        {
            OperationId = operationId;
            Action = action;
            Reason = reason;
        }

        public string OperationId { get; }

        public RecoveryAction Action { get; }

        /// <summary>domain_reload or editor_exit: the error type of an interrupted outcome.</summary>
        public string Reason { get; }
    }
}
