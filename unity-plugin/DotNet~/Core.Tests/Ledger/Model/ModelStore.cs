using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ledger;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <summary>A call that a store has a record of.</summary>
internal sealed record ModelRecord(string Id, string Hash, string? After, long AcceptedAt)
{
    /// <summary>Its ledger was lost since: the outcome is unknown for ever, it is never sent again.</summary>
    public bool Lost { get; set; }
}

/// <summary>
/// A broker's store and the worker that speaks for it, by the rules that the wire gives workers.
///
/// A ledger counts as lost when its id is another one, when its seq is behind what was seen in the same session, when
/// the session before ended behind what was seen in it, and when sessions were missed: then nothing tells. Every
/// begin is seen while the worker is connected (operation/running, heartbeats).
/// </summary>
internal sealed class ModelStore(string id)
{
    private readonly Dictionary<string, string> newestOfHash = new();

    private string? ledgerId;

    private string? session;

    private long seq;

    public string Id { get; } = id;

    public long Epoch { get; set; }

    public string Nonce { get; set; } = "";

    public string LedgerId => ledgerId ?? "none";

    public List<ModelRecord> Records { get; } = new();

    public ModelRecord NewRecord(string operationId, string hash, long now)
    {
        var record = new ModelRecord(operationId, hash, newestOfHash.GetValueOrDefault(hash), now);
        newestOfHash[hash] = operationId;
        Records.Add(record);
        return record;
    }

    /// <summary>The ledger named another one as the newest of the hash: later calls go after that.</summary>
    public void Adopt(string hash, string operationId) => newestOfHash[hash] = operationId;

    public IReadOnlyList<ModelRecord> MayBeSent => Records.Where(record => !record.Lost).ToList();

    public void SaidHello(OperationLedger ledger)
    {
        var previous = ledger.PreviousSession;
        var same = ledgerId == ledger.LedgerId && (session == ledger.Session
            ? ledger.LedgerSeq >= seq
            : previous?.EditorSessionId == session && previous!.LedgerSeq >= seq);
        if (ledgerId != null && !same)
        {
            Records.ForEach(record => record.Lost = true);
        }

        ledgerId = ledger.LedgerId;
        session = ledger.Session;
        seq = ledger.LedgerSeq;
    }

    public void Saw(OperationLedger ledger) => seq = System.Math.Max(seq, ledger.LedgerSeq);
}
