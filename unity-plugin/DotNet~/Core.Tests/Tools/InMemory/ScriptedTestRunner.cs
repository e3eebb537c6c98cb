#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>
/// Unity's side of a test run: it begins once, goes on over a domain reload, and reports to the listener that is
/// attached now. Until a listener has attached again, results are lost.
/// </summary>
public sealed class ScriptedTestRunner : ITestRunner
{
    private TaskCompletionSource running = new();
    private ITestRunListener? listener;
    private string? runId;

    /// <summary>The project's tests.</summary>
    public TestTreeNode Tree { get; set; } = TreeOf("Game.A.One", "Game.A.Two", "Game.B.Three", "Game.B.Four", "Other.Five");

    /// <summary>The list while the framework has not made it; null when it answers at once.</summary>
    public TaskCompletionSource<TestTreeNode>? Listing { get; set; }

    public static TestTreeNode TreeOf(params string[] names) => new(
        "", true, children: [new("Tests.dll", true, children: [.. names.Select(name => new TestTreeNode(name, false))], isAssembly: true)]);

    public Task<TestTreeNode> ListAsync(TestPlatform platform) => Listing?.Task ?? Task.FromResult(Tree);

    public bool CanCancel { get; set; } = true;

    /// <summary>Runs that were begun; more than one of an operation would be a test run twice.</summary>
    public List<TestRunRequest> Begun { get; } = new();

    public CancellationToken Cancellation { get; private set; }

    public List<UnsavedScene> Unsaved { get; } = new();

    public List<UnsavedScene> Saved { get; } = new();

    /// <summary>Names of scenes that cannot be saved.</summary>
    public List<string> Unsavable { get; } = new();

    public IReadOnlyList<UnsavedScene> UnsavedScenes() => Unsaved.ToArray();

    public IReadOnlyList<UnsavedScene> SaveScenes(IReadOnlyList<UnsavedScene> scenes)
    {
        Saved.AddRange(scenes.Where(scene => !Unsavable.Contains(scene.Name)));
        return scenes.Where(scene => Unsavable.Contains(scene.Name)).ToList();
    }

    public Task RunAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
    {
        Begun.Add(request);
        runId = request.RunId;
        return Listen(listener, cancellation);
    }

    public Task? AttachAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation) =>
        runId == request.RunId ? Listen(listener, cancellation) : null;

    /// <summary>A domain reload: the run is still there, its callbacks are not.</summary>
    public void ForgetListener() => listener = null;

    /// <summary>The framework has ended the run without a listener.</summary>
    public void ForgetRun() => runId = null;

    public void Start(int total) => listener?.Started(total);

    public void Finish(string name, TestVerdict verdict = TestVerdict.Passed, string message = "", string stackTrace = "") =>
        Finish(new TestCaseResult(name, verdict, 0.5, message, stackTrace));

    public void Finish(TestCaseResult testCase) => listener?.Finished(testCase);

    public void End()
    {
        runId = null;
        running.SetResult();
    }

    public void Fail(Exception error) => running.SetException(error);

    private Task Listen(ITestRunListener next, CancellationToken cancellation)
    {
        listener = next;
        Cancellation = cancellation;
        running = new TaskCompletionSource();
        var current = running;
        cancellation.Register(() => current.TrySetCanceled(cancellation));
        return running.Task;
    }
}
