#nullable enable
using System.Threading.Tasks;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Execution
{
    /// <summary>An operation whose tool was invoked, until it is settled.</summary>
    public sealed class ToolCall
    {
        internal ToolCall(LedgerOperation operation, ProgressSink sink, ToolContext context, Task<object?> task)
        {
            Operation = operation;
            Sink = sink;
            Context = context;
            Task = task;
        }

        public LedgerOperation Operation { get; }

        /// <summary>Complete when the tool has ended, whatever its end is.</summary>
        public Task<object?> Task { get; }

        internal ProgressSink Sink { get; }

        internal ToolContext Context { get; }
    }
}
