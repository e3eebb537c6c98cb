#nullable enable
using System;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The ledger cannot be opened or written: LEDGER_UNAVAILABLE. Nothing may begin that it did not confirm. The message
    /// tells a person what to do.
    /// </summary>
    public class LedgerUnavailableException : Exception
    {
        public LedgerUnavailableException(string message, Exception? cause = null)
            : base(message, cause)
        {
        }

        /// <summary>Says the system's reason, and what a person does about it.</summary>
        internal static LedgerUnavailableException Unwritable(string folder, Exception cause) =>
            new LedgerUnavailableException(
                $"The ledger in {folder} cannot be written ({cause.Message}). Nothing that changes the project runs without "
                + "it. Free space on that disk, or give this user the right to write there: it then goes on by itself, "
                + "without a restart.",
                cause);
    }

    /// <summary>Another process that still runs owns the ledger: it is not waited for.</summary>
    public sealed class LedgerInUseException : LedgerUnavailableException
    {
        public LedgerInUseException(string message)
            : base(message)
        {
        }
    }
}
