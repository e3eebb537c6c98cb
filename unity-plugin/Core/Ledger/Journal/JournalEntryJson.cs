#nullable enable
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>The JSON of one journal line: field for field what the simulator writes.</summary>
    internal static class JournalEntryJson
    {
        public static void Write(JsonWriter writer, JournalEntry entry)
        {
            writer.WriteStartObject();
            OperationJson.Number(writer, "seq", entry.Seq);
            OperationJson.Number(writer, "at", entry.At);
            OperationJson.Text(writer, "kind", entry.Kind);
            switch (entry.Kind)
            {
                case EntryKind.Opened:
                    OperationJson.Text(writer, "ledgerId", entry.Id);
                    break;
                case EntryKind.Session:
                    OperationJson.Text(writer, "editorSessionId", entry.Id);
                    break;
                case EntryKind.Fence:
                    Write(writer, entry.FenceTaken!);
                    OperationJson.Text(writer, "storeId", entry.StoreId);
                    break;
                case EntryKind.Accepted:
                    writer.WritePropertyName("operation");
                    OperationJson.Write(writer, entry.Operation!);
                    break;
                case EntryKind.Ended:
                    OperationJson.Text(writer, "operationId", entry.Id);
                    writer.WritePropertyName("outcome");
                    OperationJson.Write(writer, entry.Outcome!, entry.StoredResult);
                    break;
                case EntryKind.Acknowledged:
                    Write(writer, entry.Ids);
                    break;
                case EntryKind.Forgotten:
                    Write(writer, entry.Ids);
                    OperationJson.Number(writer, "horizon", entry.Horizon);
                    break;
                case EntryKind.Snapshot:
                    writer.WritePropertyName("content");
                    Write(writer, entry.Content!);
                    break;
                default:
                    OperationJson.Text(writer, "operationId", entry.Id);
                    break;
            }

            writer.WriteEndObject();
        }

        /// <summary>
        /// Null for a kind that this version does not know. Throws for a line that lacks what its kind has.
        /// </summary>
        public static JournalEntry? Read(JObject json)
        {
            var entry = ReadFields(json);
            if (entry != null)
            {
                entry.Seq = (long)json["seq"]!;
                entry.At = (long)json["at"]!;
            }

            return entry;
        }

        private static JournalEntry? ReadFields(JObject json)
        {
            var kind = (string)json["kind"]!;
            switch (kind)
            {
                case EntryKind.Opened:
                    return JournalEntry.Opened((string)json["ledgerId"]!);
                case EntryKind.Session:
                    return JournalEntry.Session((string)json["editorSessionId"]!);
                case EntryKind.Fence:
                    return JournalEntry.Fence(ReadFence(json), (string)json["storeId"]!);
                case EntryKind.Accepted:
                    return JournalEntry.Accepted(OperationJson.Read((JObject)json["operation"]!));
                case EntryKind.Running:
                case EntryKind.Revoked:
                case EntryKind.NotStarted:
                    return JournalEntry.Of(kind, (string)json["operationId"]!);
                case EntryKind.Ended:
                    var id = (string)json["operationId"]!;
                    var outcome = (JObject)json["outcome"]!;
                    return JournalEntry.Ended(
                        id,
                        OperationJson.ReadOutcome(outcome),
                        OperationJson.ReadStored(id, outcome));
                case EntryKind.Acknowledged:
                    return JournalEntry.Acknowledged(ReadIds(json));
                case EntryKind.Forgotten:
                    return JournalEntry.Forgotten(ReadIds(json), (long)json["horizon"]!);
                case EntryKind.Snapshot:
                    return JournalEntry.Snapshot(ReadContent((JObject)json["content"]!));
                default:
                    return null;
            }
        }

        private static void Write(JsonWriter writer, LedgerContent content)
        {
            writer.WriteStartObject();
            OperationJson.Text(writer, "ledgerId", content.LedgerId);
            if (content.Fence != null)
            {
                writer.WritePropertyName("fence");
                writer.WriteStartObject();
                Write(writer, content.Fence);
                writer.WriteEndObject();
            }

            if (content.BoundStore != null)
            {
                writer.WritePropertyName("boundStore");
                writer.WriteStartObject();
                OperationJson.Text(writer, "storeId", content.BoundStore.StoreId);
                OperationJson.Number(writer, "since", content.BoundStore.Since);
                writer.WriteEndObject();
            }

            OperationJson.Text(writer, "session", content.Session);
            if (content.PreviousSession != null)
            {
                writer.WritePropertyName("previousSession");
                writer.WriteStartObject();
                OperationJson.Text(writer, "editorSessionId", content.PreviousSession.EditorSessionId);
                OperationJson.Number(writer, "ledgerSeq", content.PreviousSession.LedgerSeq);
                writer.WriteEndObject();
            }

            OperationJson.Number(writer, "forgetHorizon", content.ForgetHorizon);
            writer.WritePropertyName("operations");
            writer.WriteStartArray();
            foreach (var operation in content.Operations.InOrder.Where(operation => !operation.ReadOnly))
            {
                OperationJson.Write(writer, operation);
            }

            writer.WriteEndArray();
            writer.WriteEndObject();
        }

        private static LedgerContent ReadContent(JObject json)
        {
            var content = new LedgerContent
            {
                LedgerId = (string)json["ledgerId"]!,
                Fence = json["fence"] is JObject fence ? ReadFence(fence) : null,
                BoundStore = json["boundStore"] is JObject bound
                    ? new BoundStore((string)bound["storeId"]!, (long)bound["since"]!)
                    : null,
                Session = (string?)json["session"],
                PreviousSession = json["previousSession"] is JObject previous
                    ? new PreviousSession((string)previous["editorSessionId"]!, (long)previous["ledgerSeq"]!)
                    : null,
                ForgetHorizon = (long)json["forgetHorizon"]!,
            };
            foreach (var operation in json["operations"]!)
            {
                content.Operations.Enter(OperationJson.Read((JObject)operation));
            }

            return content;
        }

        private static void Write(JsonWriter writer, Fence fence)
        {
            OperationJson.Number(writer, "epoch", fence.Epoch);
            OperationJson.Text(writer, "ownerNonce", fence.OwnerNonce);
        }

        private static Fence ReadFence(JObject json) =>
            new Fence((long)json["epoch"]!, (string)json["ownerNonce"]!);

        private static void Write(JsonWriter writer, IReadOnlyList<string> operationIds)
        {
            writer.WritePropertyName("operationIds");
            writer.WriteStartArray();
            foreach (var id in operationIds)
            {
                writer.WriteValue(id);
            }

            writer.WriteEndArray();
        }

        private static IReadOnlyList<string> ReadIds(JObject json) =>
            json["operationIds"]!.Select(id => (string)id!).ToList();
    }
}
