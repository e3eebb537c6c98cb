#nullable enable
using System;
using System.Collections.Generic;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>A compilation that ends when the test ends it.</summary>
public sealed class ScriptedCompiler : ICompiler
{
    private TaskCompletionSource<CompileOutcome> running = new();

    public List<bool> Forced { get; } = new();

    public List<CompilerMessage> LastErrors { get; } = new();

    public IReadOnlyList<CompilerMessage> Errors() => LastErrors;

    public Task<CompileOutcome> CompileAsync(bool force, CancellationToken cancellation)
    {
        Forced.Add(force);
        running = new TaskCompletionSource<CompileOutcome>();
        return running.Task;
    }

    public int Refreshes { get; private set; }

    /// <summary>Called before a refresh looks.</summary>
    public Action? Refreshing { get; set; }

    /// <summary>What a refresh finds on the disk.</summary>
    public bool HasChangedScripts { get; set; }

    public Task<CompileOutcome>? RefreshAsync()
    {
        Refreshing?.Invoke();
        Refreshes++;
        if (!HasChangedScripts) return null;
        HasChangedScripts = false;
        running = new TaskCompletionSource<CompileOutcome>();
        return running.Task;
    }

    /// <summary>Whether a change has made the Editor compile by itself.</summary>
    public bool IsPending { get; set; }

    public Task<CompileOutcome>? PendingAsync()
    {
        if (!IsPending) return null;
        running = new TaskCompletionSource<CompileOutcome>();
        return running.Task;
    }

    public void End(CompileOutcome outcome) => running.SetResult(outcome);

    public void Fail(Exception error) => running.SetException(error);
}
