#nullable enable
using System;
using System.Diagnostics;
using System.Security.Policy;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tests.Session;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Tests.Reloads;

/// <summary>An AppDomain with Core and a running bridge, as an Editor has one between two reloads.</summary>
internal sealed class ScriptDomain
{
    private readonly AppDomain domain;
    private readonly Inside inside;

    public ScriptDomain(NativeSession session, string folder, int number)
    {
        var loading = Stopwatch.StartNew();
        domain = AppDomain.CreateDomain("scripts " + number, new Evidence(), AppDomain.CurrentDomain.SetupInformation);
        inside = (Inside)domain.CreateInstanceAndUnwrap(typeof(Inside).Assembly.FullName, typeof(Inside).FullName!);
        LoadedMs = loading.ElapsedMilliseconds;
        inside.Start(session, folder);
        (StartedMs, MainThreadMs, ProcessorMs) = (inside.StartedMs, inside.MainThreadMs, inside.ProcessorMs);
        Port = inside.Port;
    }

    /// <summary>What the domain itself took; an Editor pays this with or without a bridge.</summary>
    public long LoadedMs { get; }

    /// <summary>
    /// How long the bridge's start kept the main thread, compiling its code for this domain included; more on a busy machine.
    /// </summary>
    public double StartedMs { get; }

    /// <summary>What the main thread computed of that.</summary>
    public double MainThreadMs { get; }

    /// <summary>What all threads of the process computed meanwhile.</summary>
    public double ProcessorMs { get; }

    public int Port { get; }

    /// <summary>How often this domain has executed the menu item.</summary>
    public int Executed => inside.Executed;

    /// <summary>A tick of the Editor.</summary>
    public void Pump() => inside.Pump();

    /// <summary>The milliseconds that closing the bridge and unloading the domain took.</summary>
    public (long Closing, long Unloading) Unload()
    {
        var clock = Stopwatch.StartNew();
        inside.Close();
        var closing = clock.ElapsedMilliseconds;
        AppDomain.Unload(domain);
        return (closing, clock.ElapsedMilliseconds - closing);
    }

    public sealed class Inside : MarshalByRefObject
    {
        private RunningBridge? bridge;

        public double StartedMs => bridge!.StartTook.Ms;

        public double MainThreadMs => bridge!.StartTook.MainThreadMs;

        public double ProcessorMs => bridge!.StartTook.ProcessorMs;

        public int Port => bridge!.Port;

        public int Executed => bridge!.Editor.Menu.Executed.Count;

        public void Start(NativeSession session, string folder)
        {
            bridge = new RunningBridge(
                options =>
                {
                    options.StateFolder = System.IO.Path.Combine(folder, "state");
                    options.LedgerFolder = System.IO.Path.Combine(folder, "ledger");
                    options.EditorId = "game@1";
                    // Whether its threads end is asked here, not how soon.
                    options.StopMs = 20_000;
                },
                store: session);
            bridge.Editor.Menu.Add("Build/Android");
            bridge.Editor.Security.Current = SecuritySnapshot.Allowing(SecuritySetting.MenuItemExecution);
        }

        public void Pump() => bridge!.Controller.Pump();

        public void Close()
        {
            if (!bridge!.Controller.BeforeReload()) throw new InvalidOperationException("The bridge did not end in time.");
        }

        public override object? InitializeLifetimeService() => null;
    }
}
