#nullable enable
using JobBroker.Bridge.Wire;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// Decides what an Editor does with a submitted operation (docs/reference/protocol.md, section 4); the twin of
    /// src/shared/operation/decide.ts.
    ///
    /// The order of the checks is the protection: first the fence, then what the ledger knows of the id (the same id
    /// attaches and never runs again), then the chain of the hash (an operation that the store forgot is named, not
    /// repeated), and only then policy.
    /// </summary>
    public static class Admission
    {
        /// <summary>
        /// Decides on one submit. Pure, so the caller holds the ledger's gate from asking until it has journalled the
        /// answer. Asked again with the same id it never answers Run twice, as long as the first Run was accepted; the
        /// exception is an operation that a new Editor process found not_started.
        /// </summary>
        public static Admitted Admit(IAdmitLedger ledger, Submit submit)
        {
            var fence = ledger.Fence;
            if (fence == null || submit.Epoch != fence.Epoch || submit.OwnerNonce != fence.OwnerNonce)
            {
                return Admitted.Refuse(
                    "FENCED",
                    ErrorCodes.Fenced,
                    "Another owner holds this Editor. Take a higher epoch and say hello before submitting.",
                    fence?.Epoch ?? 0);
            }

            if (submit.LedgerId != ledger.LedgerId)
            {
                return Admitted.Refuse(
                    "LEDGER_LOST",
                    ErrorCodes.LedgerLost,
                    $"This Editor's ledger is {ledger.LedgerId}. Say hello again to learn it.");
            }

            var known = ledger.Get(submit.OperationId);
            var refused = known != null ? Known(known, submit) : Unknown(ledger, submit);
            return refused ?? Allowed(ledger, submit);
        }

        /// <summary>
        /// Null when it may run: it was accepted once, and a new Editor process found that it never began.
        /// </summary>
        private static Admitted? Known(LedgerOperation known, Submit submit)
        {
            if (known.ArgumentsHash != null && known.ArgumentsHash != submit.ArgumentsHash)
            {
                return Admitted.Refuse(
                    "OPERATION_ID_CONFLICT",
                    ErrorCodes.OperationIdConflict,
                    "This operation id was submitted with other arguments.");
            }

            if (known.State == LedgerState.Revoked)
            {
                return Admitted.Refuse(
                    "REVOKED",
                    ErrorCodes.Revoked,
                    "This operation was revoked here and never runs in this Editor.");
            }

            return known.State == LedgerState.NotStarted ? null : Admitted.Attach(known);
        }

        /// <summary>Null when it may run as far as the ledger can tell.</summary>
        private static Admitted? Unknown(IAdmitLedger ledger, Submit submit)
        {
            if (ledger.IsReadOnly(submit.Tool))
            {
                return null;
            }

            if (submit.AcceptedAt < ledger.ForgetHorizon)
            {
                return Admitted.Refuse(
                    "RETIRED",
                    ErrorCodes.Retired,
                    "Accepted before this Editor's forget horizon: it may have run already.");
            }

            var latest = ledger.LatestOfHash(submit.Hash);
            return latest == null || latest.OperationId == submit.After ? null : Admitted.SameAs(latest);
        }

        private static Admitted Allowed(IAdmitLedger ledger, Submit submit)
        {
            if (!ledger.HasTool(submit.Tool))
            {
                return Admitted.Refuse(
                    "UNKNOWN_TOOL", ErrorCodes.UnknownTool, $"This Editor has no tool {submit.Tool}.");
            }

            var reason = ledger.SecurityRefusal(submit.Tool, submit.Arguments);
            return reason == null ? Admitted.Run() : Admitted.SecurityRefused(reason);
        }
    }
}
