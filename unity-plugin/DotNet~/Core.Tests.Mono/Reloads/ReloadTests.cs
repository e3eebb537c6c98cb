#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Tests.Session;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Reloads;

/// <summary>Real domain reloads: AppDomains that are unloaded, as the Editor's Mono unloads them.</summary>
public sealed class ReloadTests : IDisposable
{
    private const int Reloads = 4;

    private readonly string folder = Directory.CreateTempSubdirectory("jb-domains-").FullName;
    private readonly NativeSession session = new();

    public void Dispose() => Directory.Delete(folder, true);

    [Fact]
    public void The_ledger_goes_over_four_domain_reloads_and_each_call_runs_once()
    {
        var (ledgerId, port, seq, executed) = ("", 0, 0L, 0);
        for (var number = 1; number <= Reloads + 1; number++)
        {
            var scripts = new ScriptDomain(session, folder, number);
            using var worker = new WireClient(scripts.Port);
            var hello = (JObject)RunningBridge.Enter(worker, scripts.Port, "bridge/hello", RunningBridge.Hello(number))["result"]!;
            if (number == 1) (ledgerId, port) = ((string)hello["ledgerId"]!, scripts.Port);
            Assert.Equal((ledgerId, port, number - 1), ((string)hello["ledgerId"]!, scripts.Port, (int)hello["generation"]!));
            Assert.True((long)hello["ledgerSeq"]! >= seq, "the ledger has lost entries");

            // The one that the domain before had accepted and not begun.
            if (number > 1) Until(scripts, worker, number, "kept " + (number - 1), "completed");
            Submit(worker, number, "ran " + number, ledgerId);
            Until(scripts, worker, number, "ran " + number, "completed");
            for (var earlier = 1; earlier < number; earlier++)
            {
                Assert.Equal("completed", Submit(worker, number, "ran " + earlier, ledgerId));
            }
            Submit(worker, number, "kept " + number, ledgerId);
            Assert.Equal(number == 1 ? 1 : 2, scripts.Executed);
            executed += scripts.Executed;

            seq = (long)Ask(worker, "operation/list", new JObject())["ledgerSeq"]!;
            var (closing, unloading) = scripts.Unload();
            Assert.True(worker.Ends());
            Console.WriteLine(
                $"domain {number}{(number == 1 ? " (first)" : "")}: loaded in {scripts.LoadedMs} ms, the bridge's start kept the main "
                + $"thread {scripts.StartedMs:0} ms, of which it computed {scripts.MainThreadMs:0} ms (all threads "
                + $"{scripts.ProcessorMs:0} ms), closed in {closing} ms, unloaded in {unloading} ms");
        }
        Assert.Equal(2 * Reloads + 1, executed);
    }

    private static JObject Ask(WireClient worker, string method, JObject parameters)
    {
        worker.Request(7, method, parameters);
        var answer = worker.Answer(7);
        Assert.Null(answer["error"]);
        return (JObject)answer["result"]!;
    }

    /// <summary>The state that the Editor answers.</summary>
    private static string Submit(WireClient worker, int epoch, string name, string ledgerId) =>
        (string)Ask(worker, "operation/submit", new JObject
        {
            ["operationId"] = name,
            ["hash"] = "hash of " + name,
            ["after"] = null,
            ["origin"] = new JObject { ["principal"] = "local" },
            ["tool"] = "execute-menu-item",
            ["arguments"] = new JObject { ["MenuItemPath"] = "Build/Android" },
            ["argumentsHash"] = "arguments",
            ["acceptedAt"] = 1_700_000_000_000,
            ["epoch"] = epoch,
            ["ownerNonce"] = "owner-" + epoch,
            ["ledgerId"] = ledgerId,
        })["state"]!;

    private static void Until(ScriptDomain scripts, WireClient worker, int epoch, string name, string state) =>
        Wait.Until(
            () =>
            {
                scripts.Pump();
                return (string)Ask(worker, "operation/get", new JObject { ["operationId"] = name })["state"]! == state;
            },
            $"{name} {state} in domain {epoch}");
}
