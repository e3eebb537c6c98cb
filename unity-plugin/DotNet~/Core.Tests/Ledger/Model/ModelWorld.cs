using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <summary>
/// An Editor with a real ledger, its queue, and two stores that use it. The counter of begun operations lies outside:
/// no reload, crash or roll-back takes it back, and no operation may ever count to two.
/// </summary>
internal sealed partial class ModelWorld : IDisposable
{
    private static readonly string[] Hashes = { "h1", "h2", "h3" };

    private readonly Random random;

    private readonly ManualClock clock = new();

    private readonly TestFolder root = new(inMemory: true);

    private readonly FaultyDisk disk;

    private readonly ModelStore[] stores = { new("store-a"), new("store-b") };

    private readonly Dictionary<string, int> begun = new();

    private readonly List<(string Folder, ExpectedLedger Expected)> copies = new();

    private readonly List<string> queue = new();

    private ModelStore seated;

    private ExpectedLedger expected = new();

    private OperationLedger ledger;

    private long flushedBytes;

    private long highestSeq;

    private int names;

    public ModelWorld(int seed)
    {
        random = new Random(seed);
        seated = stores[0];
        disk = new FaultyDisk(Folder, DiskStep.Write, DiskStep.Flush, DiskStep.Rename);
        ledger = null!;
        StartProcess();
    }

    public List<string> Trace { get; } = new();

    public int Begun => begun.Count;

    private string Folder => Path.Combine(root.Path, "ledger");

    private string Journal => Path.Combine(Folder, "ledger.log");

    public void Dispose()
    {
        ledger.Dispose();
        disk.Dispose();
        root.Dispose();
    }

    public void Step()
    {
        clock.NowMs += random.Next(20);

        // A broken disk is fixed soon, or most of a life would be refusals.
        disk.Broken &= random.Next(3) > 0;
        if (ledger.Problem != null && random.Next(2) == 0)
        {
            clock.NowMs += 1000;
            Writes(ledger.Heal);
        }

        var steps = new (int Weight, Action Do)[]
        {
            (14, NewCall),
            (8, SendAgain),
            (3, SendWithOtherArguments),
            (4, SendFromLostMemory),
            (3, SendFenced),
            (5, RevokeOne),
            (4, CancelOne),
            (16, BeginNext),
            (5, BeginAny),
            (12, EndOne),
            (5, Reload),
            (3, () => Crash(false)),
            (3, () => Crash(true)),
            (8, AcknowledgeAndForget),
            (4, SayHello),
            (2, ForeignHello),
            (3, CopyFolder),
            (2, RollBack),
            (3, () => disk.Broken = !disk.Broken),
        };
        var pick = random.Next(steps.Sum(step => step.Weight));
        foreach (var (weight, action) in steps)
        {
            pick -= weight;
            if (pick < 0)
            {
                action();
                break;
            }
        }

        Check();
    }

    private void StartProcess()
    {
        queue.Clear();
        highestSeq = 0;
        ledger = Opened();
        TakeForgotten();
        ledger.StartSession("session-" + ++names);
        Recover(RecoveryCause.EditorExit);
        Flushed();
        HelloFrom(seated, Math.Max(seated.Epoch, ledger.Fence?.Epoch ?? 0) + 1, "nonce-" + ++names);
    }

    private OperationLedger Opened(string? carried = null) => OperationLedger.Open(
        new LedgerOptions(Folder)
        {
            Carried = carried, ForgetAfterMs = 50, KeepOperations = 4, CompactLines = 30, LargeResultBytes = 200,
        },
        clock);

    private void Recover(RecoveryCause cause)
    {
        var open = ledger.Open()
            .Select(op => new OpenOperation(
                op.OperationId, op.State, op.ReadOnly, op.OperationId.Contains("resumable")))
            .ToList();
        foreach (var step in RecoveryPlanner.Plan(cause, open))
        {
            var operation = ledger.Get(step.OperationId)!;
            switch (step.Action)
            {
                case RecoveryAction.Requeue:
                    queue.Add(step.OperationId);
                    break;
                case RecoveryAction.NotStarted:
                    ledger.MarkNotStarted(operation);
                    expected.Operations[step.OperationId].State = LedgerState.NotStarted;
                    break;
                case RecoveryAction.Interrupt:
                    End(operation, Sample.Interrupted(step.Reason));
                    break;
            }
        }
    }

    /// <summary>The ledger says what the model says; nothing was begun twice.</summary>
    private void Check()
    {
        Assert.All(begun, pair => Assert.True(pair.Value == 1, $"{pair.Key} was begun {pair.Value} times"));
        Assert.Equal(
            expected.InOrder.Select(operation => operation.Id + " " + operation.State),
            ledger.Operations().Select(operation => operation.OperationId + " " + operation.State));
        foreach (var hash in Hashes)
        {
            Assert.Equal(expected.Latest(hash), ledger.LatestOfHash(hash)?.OperationId);
        }

        Assert.Equal(
            expected.InOrder.Where(op => LedgerState.HasEnded(op.State) && !op.Acknowledged).Select(op => op.Id),
            ledger.Unacknowledged().Select(operation => operation.OperationId));
        Assert.True(ledger.LedgerSeq >= highestSeq, "the seq went back within a process");
        highestSeq = ledger.LedgerSeq;
        foreach (var record in seated.MayBeSent.Where(record => begun.ContainsKey(record.Id)))
        {
            var state = ledger.Get(record.Id)?.State;
            Assert.True(
                state == LedgerState.Running || LedgerState.HasEnded(state ?? "")
                    || record.AcceptedAt < ledger.ForgetHorizon,
                $"{record.Id} began, the ledger says {state ?? "unknown"}, and its worker may send it again");
        }
    }

    private void Flushed()
    {
        expected.AllDurable();
        flushedBytes = new FileInfo(Journal).Length;
    }

    private static Outcome NotInvoked() =>
        Outcome.Error(LedgerState.Failed, "ledger_unavailable", "Not invoked.", null, 2);

    private void Note(string what) => Trace.Add(what);

    private T Any<T>(IReadOnlyList<T> list) => list[random.Next(list.Count)];
}
