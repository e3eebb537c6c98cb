#nullable enable
using System;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The ledger cannot be opened or written: LEDGER_UNAVAILABLE. Nothing may run that it did not confirm. The message
    /// tells a person what to do.
    /// </summary>
    public class LedgerUnavailableException : Exception
    {
        public LedgerUnavailableException(string message, Exception? cause = null)
            : base(message, cause)
        {
        }
    }

    /// <summary>Another process that still runs owns the ledger.</summary>
    public sealed class LedgerInUseException : LedgerUnavailableException
    {
        public LedgerInUseException(string message)
            : base(message)
        {
        }
    }
}
