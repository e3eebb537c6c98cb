using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <summary>An Editor whose one tool changes the project and is allowed.</summary>
internal sealed class ModelEditor(OperationLedger ledger) : IAdmitLedger
{
    public string LedgerId => ledger.LedgerId;

    public Fence? Fence => ledger.Fence;

    public long ForgetHorizon => ledger.ForgetHorizon;

    public LedgerOperation? Get(string operationId) => ledger.Get(operationId);

    public LedgerOperation? LatestOfHash(string hash) => ledger.LatestOfHash(hash);

    public bool HasTool(string tool) => true;

    public bool IsReadOnly(string tool) => false;

    public string? SecurityRefusal(string tool, JObject arguments) => null;
}
