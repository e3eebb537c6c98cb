#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Session.DiskErrors;

/// <summary>A whole bridge with real files and sockets, driven through every step that writes, by a worker that remembers what it was told.</summary>
internal sealed class DiskErrorLife : IDisposable
{
    private const string Unavailable = "-32014";
    private const int Large = 50_000;

    /// <param name="Works">What the worker is told.</param>
    /// <param name="Refused">What it is told while the journal cannot be written.</param>
    /// <param name="Runs">Whether the tool has run behind a step that was refused.</param>
    /// <param name="Later">
    /// What the ledger of a later process may say of the operation as long as the step is not durable; once it is, that says
    /// what the worker was told.
    /// </param>
    internal sealed record Row(string Works, string Refused, bool Runs, params string[] Later);

    internal static readonly IReadOnlyDictionary<string, Row> Table = new Dictionary<string, Row>
    {
        ["hello"] = new("welcome", Unavailable, false),
        ["read"] = new("completed", "completed", true, "unknown"),
        ["submit"] = new("accepted", Unavailable, false, "accepted", "unknown"),
        ["begin"] = new("running", "failed ledger_unavailable", false, "unknown", "accepted", "running", "failed"),
        ["end"] = new("completed", "completed", true, "running", "completed"),
        ["cancel"] = new("cancelled", "cancelled", false, "unknown", "accepted", "cancelled"),
        ["revoke"] = new("revoked", Unavailable, false, "unknown", "revoked"),
        ["acknowledge"] = new("acknowledged", Unavailable, true, "completed", "unknown"),
        ["reload"] = new("interrupted", "interrupted", true, "running", "interrupted"),
    };

    private readonly FixedClock clock = new();
    private readonly TestFolder folder = new(inMemory: true);
    private readonly TestFolder copies = new(inMemory: true);
    private readonly InMemoryEditor editor;
    private readonly string life = Guid.NewGuid().ToString("N");
    private readonly Dictionary<string, Told> told = new();
    private readonly ErrorDisk disk;
    private readonly DiskError error;
    private RunningBridge? bridge;
    private WireClient? worker;
    private string? ledgerId;
    private long toldSeq;
    private int requests = 10;
    private bool isRemembered;

    public DiskErrorLife(DiskError error)
    {
        this.error = error;
        editor = new InMemoryEditor(clock: clock);
        disk = new ErrorDisk(error, path => path.StartsWith(folder.Path, StringComparison.Ordinal)
            || path.StartsWith(editor.Info.ProjectPath, StringComparison.Ordinal));
    }

    /// <summary>What the worker was told of an operation last.</summary>
    private sealed class Told
    {
        public string Step { get; set; } = "";

        public string State { get; set; } = "unknown";

        /// <summary>Must be there after a power cut.</summary>
        public bool IsDurable { get; set; }

        public bool IsAcknowledged { get; set; }
    }

    public List<string> Story { get; } = [];

    public bool Struck => disk.StruckAt != null;

    private OperationLedger Ledger => bridge!.Controller.Ledger!;

    public void Live()
    {
        Start();
        Hello(2);
        Step("read", "read", () => Ended("read", Submitted("read", "gated-read", Large)));
        Run("small", 10);
        if (Begins("large", Large))
        {
            if (Submits("cancelled", 10)) Step("cancel", "cancelled", () => Asked("operation/cancel", "cancelled"));
            Step("revoke", "revoked", () => Asked("operation/revoke", "revoked"));
            Ends("large");
        }
        Acknowledge("small", "cancelled");
        Begins("interrupted", 10);
        Submits("queued", 10);
        Reload();
        if (told["queued"].State == "running" || (told["queued"].State == "accepted" && Begins("queued"))) Ends("queued");
        Recovers();
        Reopen();
    }

    public void Dispose()
    {
        worker?.Dispose();
        bridge?.Dispose();
        disk.Dispose();
        folder.Dispose();
        copies.Dispose();
    }

    private void Start()
    {
        Story.Add("start");
        bridge = new RunningBridge(
            options =>
            {
                options.StateFolder = Path.Combine(folder.Path, "state");
                options.HeartbeatMs = 5;
                options.CompactLines = 5;
                options.KeepOperations = 1;
                options.ForgetAfterMs = 0;
            },
            clock,
            tools: [typeof(GatedTool), typeof(ReadingTool)],
            listens: null,
            editor: editor);
        Listens();
        ledgerId = Ledger.LedgerId;
        // However often it had to begin: a worker that knew the session before would think that it had missed one.
        Assert.Null(Ledger.PreviousSession);
    }

    /// <summary>A bridge that could not start says why, and starts by itself once the disk works.</summary>
    private void Listens()
    {
        if (!bridge!.Controller.IsRunning)
        {
            Story.Add("does not listen: " + bridge.Controller.Status().LastError);
            Assert.Contains(error.Reason, bridge.Controller.Status().LastError);
            disk.Repair();
            clock.ElapsedMs += 1000;
            bridge.Controller.Pump();
        }
        Assert.True(bridge.Controller.IsRunning, bridge.Controller.Status().LastError);
    }

    private void Hello(int epoch)
    {
        for (var refusals = 0; ; refusals++)
        {
            worker?.Dispose();
            worker = bridge!.Connect();
            var answer = Step("hello", null, () =>
            {
                var said = bridge.Enter(worker, "bridge/hello", RunningBridge.Hello(epoch));
                if (said["error"] == null) Note(said["result"]!);
                return said["error"] is { } refused ? Refused(refused) : "welcome";
            });
            if (answer == "welcome") return;
            Assert.Equal(0, refusals);
            disk.Repair();
            clock.ElapsedMs += 1000;
        }
    }

    private void Run(string id, int characters)
    {
        if (Begins(id, characters)) Ends(id);
    }

    private bool Begins(string id, int characters) => Submits(id, characters) && Begins(id);

    private bool Submits(string id, int characters) =>
        Step("submit", id, () => Submitted(id, "gated-change", characters)) == "accepted";

    private bool Begins(string id) => Step("begin", id, () =>
    {
        Wait.Until(
            () =>
            {
                bridge!.Controller.Pump();
                return Ledger.Get(id)!.State != LedgerState.Accepted;
            },
            "the begin of " + id);
        var notice = Notice(id, "operation/running", "operation/finished");
        return (string)notice["method"]! == "operation/running" ? "running" : EndIn(notice);
    }) == "running";

    private void Ends(string id) => Step("end", id, () =>
    {
        GatedTool.End(life + id);
        return Ended(id, "accepted");
    });

    private string Ended(string id, string submitted)
    {
        if (submitted != "accepted") return submitted;
        Wait.Until(
            () =>
            {
                bridge!.Controller.Pump();
                return LedgerState.HasEnded(Ledger.Get(id)!.State);
            },
            "the end of " + id);
        Assert.NotNull(Ledger.ResultOf(Ledger.Get(id)!));
        return EndIn(Notice(id, "operation/finished"));
    }

    private void Acknowledge(params string[] ids)
    {
        // Of what was refused there is nothing to write.
        if (!ids.Any(id => Ledger.Unacknowledged().Any(operation => operation.OperationId == id))) return;
        Step("acknowledge", null, () =>
        {
            var answer = Ask("operation/ack", new JObject { ["operationIds"] = new JArray(ids.ToArray<object>()) });
            if (answer["error"] is { } refused) return Refused(refused);
            foreach (var id in ids.Where(told.ContainsKey)) told[id].IsAcknowledged = true;
            return "acknowledged";
        });
    }

    /// <summary>The script domain ends; what ran is interrupted, what was queued is queued again.</summary>
    private void Reload()
    {
        Story.Add("reload");
        bridge!.Reload(listens: null);
        Listens();
        Assert.Equal(ledgerId, Ledger.LedgerId);
        if (told["interrupted"].State == "running") Tell("reload", "interrupted", Ledger.Get("interrupted")!.State);
        // The pump that opened the ledger began it, before a worker could be told.
        if (Ledger.Get("queued")?.State == "running") Tell("begin", "queued", "running");
        Durable();
        Hello(2);
        foreach (var pair in told.Where(pair => !pair.Value.IsAcknowledged && pair.Key != "read"))
        {
            Assert.Equal((pair.Key, pair.Value.State), (pair.Key, Ledger.Get(pair.Key)?.State ?? "unknown"));
        }
    }

    /// <summary>Once the disk works, everything does, without a reload.</summary>
    private void Recovers()
    {
        Story.Add("the disk works");
        disk.Repair();
        clock.ElapsedMs += 1000;
        Run("last", 10);
        Assert.Equal("completed", told["last"].State);
        Assert.Null(bridge!.Controller.Status().LastError);
        Wait.Until(() => bridge.EndpointFiles.All(file => PortIn(file) == bridge.Port), "the endpoint files");
        foreach (var pair in told)
        {
            var ran = GatedTool.Invocations(life + pair.Key);
            var mayRun = pair.Value.State is "running" or "completed" or "interrupted" && pair.Key != "read";
            Assert.True(ran == (mayRun ? 1 : 0), $"{pair.Key} was told {pair.Value.State} and ran {ran} times");
        }
    }

    /// <summary>The Editor quits; the next one finds all that was told.</summary>
    private void Reopen()
    {
        worker!.Dispose();
        bridge!.Controller.Quit();
        foreach (var one in told.Values) one.IsDurable = true;
        Compare(Path.GetDirectoryName(Journal)!);
    }

    private string Step(string name, string? id, Func<string> act)
    {
        var row = Table[name];
        var wasFailing = disk.IsFailing;
        var struckBefore = Struck;
        var answer = act();
        Story.Add($"{name} {id}: {answer}");
        var struckJournal = !struckBefore && disk.StruckAt == Journal;
        var isRefused = name != "hello" && wasFailing || struckJournal;
        // What is forgotten behind an acknowledgement is written after it.
        var isForgetting = name == "acknowledge" && struckJournal && answer == row.Works;
        var mayBeRefused = name == "hello" && wasFailing && answer == row.Refused;
        Assert.True(answer == (isRefused ? row.Refused : row.Works) || mayBeRefused || isForgetting,
            $"{name} {id} was answered {answer}");
        if (id != null)
        {
            Tell(name, id, answer == Unavailable ? "unknown" : answer.Split(' ')[0]);
            if (isRefused && !row.Runs) Assert.Equal(0, GatedTool.Invocations(life + id));
        }
        Durable();
        if (Struck && !isRemembered)
        {
            isRemembered = true;
            Die();
        }
        clock.ElapsedMs += 1000;
        clock.NowMs += 1000;
        return answer;
    }

    private void Tell(string step, string id, string state)
    {
        if (!told.TryGetValue(id, out var one)) told[id] = one = new Told();
        one.Step = step;
        one.State = state;
        one.IsDurable = false;
    }

    /// <summary>A journal that is trusted holds everything, but for what was only accepted.</summary>
    private void Durable()
    {
        if (Ledger.Problem != null) return;
        foreach (var one in told.Values.Where(one => one.State != "accepted" && one.Step != "read")) one.IsDurable = true;
    }

    /// <summary>The Editor dies now, and then the machine: a later process opens what is left.</summary>
    private void Die()
    {
        foreach (var powerCut in new[] { false, true })
        {
            Story.Add(powerCut ? "with a power cut" : "if it dies now");
            var copy = Path.Combine(copies.Path, powerCut ? "cut" : "dead");
            lock (Ledger.Gate)
            {
                Durable();
                Copy(Path.GetDirectoryName(Journal)!, copy);
                if (powerCut)
                {
                    using var stream = new FileStream(Path.Combine(copy, "ledger.log"), FileMode.Open);
                    stream.SetLength(disk.FlushedBytes(Journal));
                }
            }
            Compare(copy);
        }
    }

    private void Compare(string folder)
    {
        using var later = OperationLedger.Open(new LedgerOptions(folder), clock);
        Assert.Equal(ledgerId, later.LedgerId);
        Assert.True(later.LedgerSeq >= toldSeq, $"the worker saw {toldSeq}, and the ledger ends at {later.LedgerSeq}");
        foreach (var (id, one) in told.Select(pair => (pair.Key, pair.Value)).Where(pair => pair.Key != "read"))
        {
            var found = later.Get(id);
            var state = found?.State ?? "unknown";
            var mayBe = one.IsDurable ? new[] { one.State } : Table[one.Step].Later.Append(one.State);
            Assert.True(
                mayBe.Contains(state) || (one.IsAcknowledged && found == null),
                $"{id} was told {one.State} by {one.Step}{(one.IsDurable ? ", durable," : "")} and is {state} later");
            if (state == "completed" && later.ResultOf(found!) == null)
            {
                Assert.Equal(("large", "result_lost", true), (id, found!.Outcome!.ErrorType, Struck));
            }
        }
    }

    private static void Copy(string from, string to)
    {
        Directory.CreateDirectory(to);
        foreach (var file in Directory.GetFiles(from).Where(file => !Path.GetFileName(file).StartsWith("ledger.lock")))
        {
            File.Copy(file, Path.Combine(to, Path.GetFileName(file)));
        }
        foreach (var folder in Directory.GetDirectories(from)) Copy(folder, Path.Combine(to, Path.GetFileName(folder)));
    }

    private string Journal => Path.Combine(Ledger.Folder, "ledger.log");

    private static int PortIn(string file) =>
        File.Exists(file) ? (int)JObject.Parse(File.ReadAllText(file))["port"]! : 0;

    private string Submitted(string id, string tool, int characters)
    {
        var answer = Ask("operation/submit", new JObject
        {
            ["operationId"] = id,
            ["hash"] = "hash of " + id,
            ["after"] = null,
            ["origin"] = new JObject { ["principal"] = "local" },
            ["tool"] = tool,
            ["arguments"] = new JObject { ["Key"] = life + id, ["Characters"] = characters },
            ["argumentsHash"] = "arguments",
            ["acceptedAt"] = clock.NowMs,
            ["epoch"] = 2,
            ["ownerNonce"] = "owner-2",
            ["ledgerId"] = ledgerId,
        });
        return answer["error"] is { } refused ? Refused(refused) : (string)answer["result"]!["state"]!;
    }

    private string Asked(string method, string id)
    {
        var answer = Ask(method, new JObject { ["operationId"] = id });
        return answer["error"] is { } refused ? Refused(refused) : (string)answer["result"]!["state"]!;
    }

    private JObject Ask(string method, JObject parameters)
    {
        worker!.Request(++requests, method, parameters);
        var answer = worker.Answer(requests);
        if (answer["result"] is { } result) Note(result);
        return answer;
    }

    /// <summary>The reason is the system's, and it says that nobody has to restart anything.</summary>
    private string Refused(JToken refused)
    {
        Assert.Contains(error.Reason, (string)refused["message"]!);
        Assert.Contains("goes on by itself", (string)refused["message"]!);
        return (string)refused["code"]!;
    }

    private JObject Notice(string id, params string[] methods)
    {
        while (true)
        {
            var message = worker!.Next() ?? throw new InvalidOperationException("The connection ended.");
            if (message["params"] is not { } parameters) continue;
            Note(parameters);
            if ((string?)parameters["operationId"] == id && methods.Contains((string?)message["method"])) return message;
        }
    }

    private string EndIn(JObject notice)
    {
        var outcome = notice["params"]!["outcome"]!;
        if (outcome["error"] is not { } failure) return (string)outcome["status"]!;
        Assert.Contains(error.Reason, (string)failure["message"]!);
        return $"{outcome["status"]} {failure["type"]}";
    }

    private void Note(JToken said) => toldSeq = Math.Max(toldSeq, (long?)said["ledgerSeq"] ?? 0);
}
