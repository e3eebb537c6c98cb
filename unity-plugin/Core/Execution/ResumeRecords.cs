#nullable enable
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// The records from which running calls resume after a domain reload; they end with the process, as the calls do.
    /// Main thread only.
    /// </summary>
    public sealed class ResumeRecords
    {
        private const string KeyPrefix = "JobBroker.Resume.";

        private readonly ISessionStore store;

        public ResumeRecords(ISessionStore store)
        {
            this.store = store;
        }

        public void Save(string operationId, JToken record) =>
            store.Set(KeyPrefix + operationId, record.ToString(Formatting.None));

        /// <summary>The record; null when none was saved.</summary>
        public JToken? Read(string operationId)
        {
            var text = store.Get(KeyPrefix + operationId);
            return text == null ? null : JToken.Parse(text);
        }

        public void Erase(string operationId) => store.Set(KeyPrefix + operationId, null);
    }
}
