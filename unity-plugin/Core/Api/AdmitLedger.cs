#nullable enable
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>This Editor as <see cref="Admission"/> sees it; used under the ledger's gate.</summary>
    internal sealed class AdmitLedger : IAdmitLedger
    {
        private readonly OperationLedger ledger;
        private readonly UnityToolRegistry tools;
        private readonly McpSecurityChecker security;

        public AdmitLedger(OperationLedger ledger, UnityToolRegistry tools, McpSecurityChecker security)
        {
            this.ledger = ledger;
            this.tools = tools;
            this.security = security;
        }

        public string LedgerId => ledger.LedgerId;

        public Fence? Fence => ledger.Fence;

        public long ForgetHorizon => ledger.ForgetHorizon;

        public LedgerOperation? Get(string operationId) => ledger.Get(operationId);

        public LedgerOperation? LatestOfHash(string hash) => ledger.LatestOfHash(hash);

        public bool HasTool(string tool) => tools.Get(tool) != null;

        public bool IsReadOnly(string tool) => tools.Get(tool)?.IsReadOnly ?? false;

        public string? SecurityRefusal(string tool, JObject arguments) => security.Refusal(tool, arguments);
    }
}
