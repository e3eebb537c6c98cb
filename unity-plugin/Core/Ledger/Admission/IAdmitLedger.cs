#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The Editor as <see cref="Admission"/> sees it: its ledger, tools and settings. No member may write or wait.
    /// </summary>
    public interface IAdmitLedger
    {
        string LedgerId { get; }

        /// <summary>The highest fence that said hello; null before the first hello.</summary>
        Fence? Fence { get; }

        /// <summary>
        /// Milliseconds on the store's clock: what was accepted before may have been forgotten. 0: nothing was.
        /// </summary>
        long ForgetHorizon { get; }

        LedgerOperation? Get(string operationId);

        /// <summary>The latest operation of this hash that is not revoked; reads are in no chain.</summary>
        LedgerOperation? LatestOfHash(string hash);

        bool HasTool(string tool);

        bool IsReadOnly(string tool);

        /// <summary>Why the security settings refuse this call; null when they allow it.</summary>
        string? SecurityRefusal(string tool, JObject arguments);
    }
}
