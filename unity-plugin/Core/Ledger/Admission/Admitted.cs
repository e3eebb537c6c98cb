#nullable enable
namespace JobBroker.Bridge.Ledger
{
    public enum AdmittedKind
    {
        /// <summary>Journal accepted (mutating tools) and queue.</summary>
        Run,

        /// <summary>Answer with the known state of this id; nothing is queued.</summary>
        Attach,

        /// <summary>
        /// The latest operation of the hash is not the submitter's <c>after</c>; nothing is queued.
        /// </summary>
        SameAs,

        /// <summary>Answer a failed outcome of the type security_blocked that never began.</summary>
        SecurityRefused,

        /// <summary>Answer an error.</summary>
        Refuse,
    }

    /// <summary>The decision on a submit. Only the properties of its kind are set.</summary>
    public sealed class Admitted
    {
        private Admitted(AdmittedKind kind)
        {
            Kind = kind;
        }

        public AdmittedKind Kind { get; }

        /// <summary>
        /// Attach: the operation itself. SameAs: the other one. As the ledger has it, state and outcome included.
        /// </summary>
        public LedgerOperation? Operation { get; private set; }

        /// <summary>SecurityRefused: why.</summary>
        public string Reason { get; private set; } = "";

        /// <summary>Refuse: the name of the code, as docs/reference/protocol.md writes it.</summary>
        public string CodeName { get; private set; } = "";

        /// <summary>Refuse: the code.</summary>
        public int Code { get; private set; }

        /// <summary>Refuse: what to do, for the submitter.</summary>
        public string Message { get; private set; } = "";

        /// <summary>FENCED only; 0 before the first hello.</summary>
        public long? HighestEpoch { get; private set; }

        internal static Admitted Run() => new Admitted(AdmittedKind.Run);

        internal static Admitted Attach(LedgerOperation known) =>
            new Admitted(AdmittedKind.Attach) { Operation = known };

        internal static Admitted SameAs(LedgerOperation latest) =>
            new Admitted(AdmittedKind.SameAs) { Operation = latest };

        internal static Admitted SecurityRefused(string reason) =>
            new Admitted(AdmittedKind.SecurityRefused) { Reason = reason };

        internal static Admitted Refuse(string codeName, int code, string message, long? highestEpoch = null) =>
            new Admitted(AdmittedKind.Refuse)
            {
                CodeName = codeName,
                Code = code,
                Message = message,
                HighestEpoch = highestEpoch,
            };
    }
}
