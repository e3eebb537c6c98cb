using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ledger;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <summary>An operation as the model believes the ledger to know it.</summary>
internal sealed record ExpectedOperation(string Id, string? Hash, long Order)
{
    public string State { get; set; } = LedgerState.Accepted;

    public bool Acknowledged { get; set; }

    /// <summary>False while a power cut may still take its last change away.</summary>
    public bool Durable { get; set; }

    public bool AcknowledgementDurable { get; set; }

    /// <summary>Nobody needs it any more once the retention has ended.</summary>
    public bool MayLeave => State == LedgerState.Revoked || State == LedgerState.NotStarted
        || (Acknowledged && LedgerState.HasEnded(State));

    /// <summary>What the disk says while its outcome is only in memory; null when that is written.</summary>
    public string? OnDisk { get; set; }
}

/// <summary>What the ledger must say, kept by simple means: a dictionary, copied as a whole for roll-backs.</summary>
internal sealed class ExpectedLedger
{
    private long order;

    public Dictionary<string, ExpectedOperation> Operations { get; private init; } = new();

    public ExpectedLedger Copy() => new()
    {
        order = order,
        Operations = Operations.ToDictionary(pair => pair.Key, pair => pair.Value with { }),
    };

    public void Enter(string id, string? hash, string state)
    {
        Operations[id] = new ExpectedOperation(id, hash, ++order) { State = state };
    }

    public IEnumerable<ExpectedOperation> InOrder => Operations.Values.OrderBy(operation => operation.Order);

    public string? Latest(string hash) => InOrder
        .LastOrDefault(operation => operation.Hash == hash && operation.State != LedgerState.Revoked)?.Id;

    public void AllDurable()
    {
        foreach (var operation in Operations.Values)
        {
            operation.Durable = true;
            operation.AcknowledgementDurable = operation.Acknowledged;
            operation.OnDisk = null;
        }
    }

    /// <summary>The memory of a process is gone; the disk is as it was.</summary>
    public void LoseMemory()
    {
        foreach (var operation in Operations.Values.Where(operation => operation.OnDisk != null))
        {
            operation.State = operation.OnDisk!;
            operation.OnDisk = null;
        }
    }
}
