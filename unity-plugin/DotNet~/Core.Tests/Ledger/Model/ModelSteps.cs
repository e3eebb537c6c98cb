using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ledger;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <content>What workers ask, and what the Editor does with it.</content>
internal sealed partial class ModelWorld
{
    private void NewCall()
    {
        var name = $"op-{++names}{(random.Next(3) == 0 ? "-resumable" : "")}";
        Send(seated, seated.NewRecord(name, Any(Hashes), clock.NowMs), "arguments");
    }

    private void SendAgain()
    {
        if (seated.MayBeSent.Count > 0)
        {
            Send(seated, Any(seated.MayBeSent), "arguments");
        }
    }

    private void SendWithOtherArguments()
    {
        if (seated.MayBeSent.Count == 0)
        {
            return;
        }

        var record = Any(seated.MayBeSent);
        if (ledger.Get(record.Id)?.ArgumentsHash != null)
        {
            Assert.Equal("OPERATION_ID_CONFLICT", Send(seated, record, "other arguments").CodeName);
        }
    }

    /// <summary>A store that forgot what it had: the call is new to it, after nothing or after an old one.</summary>
    private void SendFromLostMemory()
    {
        var hash = Any(Hashes);
        var after = random.Next(2) == 0 || seated.Records.Count == 0 ? null : Any(seated.Records).Id;
        var record = new ModelRecord($"op-{++names}", hash, after, clock.NowMs);
        var latest = expected.Latest(hash);
        var admitted = Send(seated, record, "arguments");
        if (latest != null && latest != after && ledger.Fence!.Epoch == seated.Epoch)
        {
            Assert.Equal(AdmittedKind.SameAs, admitted.Kind);
        }

        seated.Records.Add(record);
    }

    /// <summary>A worker that was deposed, and the store that is not bound, send what they have.</summary>
    private void SendFenced()
    {
        var other = stores.Single(store => store != seated);
        var sender = random.Next(2) == 0 || other.Records.Count == 0 ? seated : other;
        if (sender.Records.Count == 0)
        {
            return;
        }

        var submit = SubmitOf(sender, Any(sender.Records), "arguments", sender.Epoch - 1, "deposed");
        lock (ledger.Gate)
        {
            Assert.Equal("FENCED", Admission.Admit(new ModelEditor(ledger), submit).CodeName);
        }
    }

    private Admitted Send(ModelStore store, ModelRecord record, string argumentsHash)
    {
        var submit = SubmitOf(store, record, argumentsHash, store.Epoch, store.Nonce);
        Admitted admitted;
        lock (ledger.Gate)
        {
            admitted = Admission.Admit(new ModelEditor(ledger), submit);
            if (admitted.Kind == AdmittedKind.Run)
            {
                Assert.False(begun.ContainsKey(record.Id), $"{record.Id} began and would run again");
                var known = expected.Operations.GetValueOrDefault(record.Id);
                Assert.True(known == null || known.State == LedgerState.NotStarted);
                var latest = expected.Latest(record.Hash);
                Assert.True(known != null || latest == null || latest == record.After, "the chain was not asked");
                if (Writes(() => ledger.Accept(submit.ToOperation(false))))
                {
                    expected.Enter(record.Id, record.Hash, LedgerState.Accepted);
                    queue.Add(record.Id);
                }
            }
        }

        if (admitted.Kind == AdmittedKind.SameAs)
        {
            Assert.Equal(expected.Latest(record.Hash), admitted.Operation!.OperationId);
            Assert.NotEqual(record.After, admitted.Operation.OperationId);
            store.Adopt(record.Hash, admitted.Operation.OperationId);
        }

        Note($"submit {record.Id} of {record.Hash} after {record.After}: {admitted.Kind} {admitted.CodeName}");
        store.Saw(ledger);
        return admitted;
    }

    private static Submit SubmitOf(ModelStore store, ModelRecord record, string args, long epoch, string nonce) => new()
    {
        OperationId = record.Id,
        Hash = record.Hash,
        After = record.After,
        Origin = new JObject { ["principal"] = store.Id },
        Tool = "work",
        ArgumentsHash = args,
        AcceptedAt = record.AcceptedAt,
        Epoch = epoch,
        OwnerNonce = nonce,
        LedgerId = store.LedgerId,
    };

    /// <summary>Also of an id that no submit has brought yet: its submit may come late.</summary>
    private void RevokeOne()
    {
        var fresh = random.Next(4) == 0 || seated.Records.Count == 0;
        var record = fresh ? seated.NewRecord($"op-{++names}", Any(Hashes), clock.NowMs) : Any(seated.Records);
        var known = expected.Operations.GetValueOrDefault(record.Id);
        if (known != null && known.State != LedgerState.Accepted && known.State != LedgerState.NotStarted)
        {
            if (known.State != LedgerState.Revoked)
            {
                Assert.ThrowsAny<Exception>(() => ledger.Revoke(record.Id));
            }

            return;
        }

        Note("revoke " + record.Id);
        if (Writes(() => ledger.Revoke(record.Id)))
        {
            if (known == null)
            {
                expected.Enter(record.Id, null, LedgerState.Revoked);
            }

            expected.Operations[record.Id].State = LedgerState.Revoked;
            queue.Remove(record.Id);
            Flushed();
        }
    }

    private void CancelOne()
    {
        if (queue.Count == 0)
        {
            return;
        }

        var id = Any(queue);
        Note("cancel " + id);
        End(ledger.Get(id)!, Outcome.Error(LedgerState.Cancelled, "cancelled", "Early.", null, 2));
        queue.Remove(id);
    }

    private void BeginNext()
    {
        if (queue.Count == 0)
        {
            return;
        }

        var id = queue[0];
        queue.RemoveAt(0);
        var operation = ledger.Get(id)!;
        Note("begin " + id);
        if (Writes(() => ledger.Begin(operation)))
        {
            begun[id] = begun.GetValueOrDefault(id) + 1;
            expected.Operations[id].State = LedgerState.Running;
            Flushed();
            seated.Saw(ledger);
        }
        else
        {
            End(operation, NotInvoked());
        }
    }

    /// <summary>Whatever asks, and for whichever operation: only an accepted one begins.</summary>
    private void BeginAny()
    {
        var others = expected.InOrder.Where(operation => operation.State != LedgerState.Accepted).ToList();
        var id = others.Count == 0 || random.Next(5) == 0 ? "never accepted" : Any(others).Id;
        var stale = random.Next(2) == 0 ? ledger.Get(id) : null;
        Note("try to begin " + id);
        Assert.Throws<InvalidOperationException>(() => ledger.Begin(stale ?? new LedgerOperation(id)));
        Assert.Throws<InvalidOperationException>(() =>
        {
            ledger.MarkNotStarted(stale ?? new LedgerOperation(id));
        });
    }

    private void EndOne()
    {
        var running = expected.InOrder.Where(operation => operation.State == LedgerState.Running).ToList();
        if (running.Count == 0)
        {
            return;
        }

        var id = Any(running).Id;
        Note("end " + id);
        var result = new JObject { ["id"] = id, ["text"] = new string('x', random.Next(400)) };
        var operation = ledger.Get(id)!;
        End(operation, Outcome.Completed(JsonText.Of(result), 1, 2));
        Assert.Equal(id, (string?)ledger.ResultOf(operation)!["id"]);
    }

    /// <summary>An end is taken, whatever the disk does.</summary>
    private void End(LedgerOperation operation, Outcome outcome)
    {
        var operationId = operation.OperationId;
        Assert.True(Writes(() => ledger.End(operation, outcome)));
        var ended = expected.Operations[operationId];
        if (ledger.Problem != null)
        {
            ended.OnDisk ??= ended.State;
        }

        ended.State = outcome.Status;
        if (ledger.Problem == null)
        {
            Flushed();
            seated.Saw(ledger);
        }
    }

    private void AcknowledgeAndForget()
    {
        clock.NowMs += random.Next(100);
        var ended = expected.InOrder
            .Where(op => LedgerState.HasEnded(op.State) && !op.Acknowledged && random.Next(3) > 0).ToList();
        Note("acknowledge " + string.Join(" ", ended.Select(operation => operation.Id)));
        var isTaken = Writes(() => ledger.Acknowledge(ended.Select(operation => operation.Id)));
        foreach (var operation in ended)
        {
            Assert.Equal(isTaken, ledger.Get(operation.Id)!.AcknowledgedAt != null);
            operation.Acknowledged = isTaken;
        }

        var seq = ledger.LedgerSeq;
        Assert.True(Writes(ledger.Forget));
        if (ledger.LedgerSeq > seq)
        {
            TakeForgotten();
            Flushed();
            seated.Saw(ledger);
        }
    }

    /// <summary>What the ledger forgot, now or when it was opened; the latest of a hash only behind all others.</summary>
    private void TakeForgotten()
    {
        foreach (var gone in expected.InOrder.Where(op => ledger.Get(op.Id) == null).ToList())
        {
            Assert.True(gone.MayLeave, $"{gone.Id} is {gone.State} and was forgotten");
            var leavesAsLatest = gone.Hash != null && expected.Latest(gone.Hash) == gone.Id;
            expected.Operations.Remove(gone.Id);
            Assert.False(
                leavesAsLatest && expected.Latest(gone.Hash!) is { } another && ledger.Get(another) != null,
                $"{gone.Id} was the latest of its hash and left before others");
            Note("forgotten " + gone.Id);
        }
    }

    /// <summary>Whether it was done; only a broken disk may refuse, for a second behind an attempt to heal too.</summary>
    private bool Writes(Action write)
    {
        var before = ledger.Problem;
        try
        {
            write();
            return true;
        }
        catch (LedgerUnavailableException)
        {
            Assert.True(disk.Broken || before != null, "a working disk refused");
            return false;
        }
        finally
        {
            if (before != null && ledger.Problem == null)
            {
                // Memory is on the disk as one snapshot; a line behind it may not be.
                expected.AllDurable();
                flushedBytes = Array.IndexOf(File.ReadAllBytes(Journal), (byte)'\n') + 1;
                seated.Saw(ledger);
            }
        }
    }
}
