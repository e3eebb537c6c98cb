using JobBroker.Bridge.Ports;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

internal sealed class HostTests(NativeEditor native, Effects effects, Action reload) : ITestRunner
{
    public bool CanCancel => true;

    public Task<TestTreeNode> ListAsync(TestPlatform platform)
    {
        var tests = All(platform).Select(name => new TestTreeNode(name, false)).ToList();
        var fixture = new TestTreeNode($"Simulated.{platform}", true, children: tests);
        var assembly = new TestTreeNode("Simulated.Tests.dll", true, children: [fixture], isAssembly: true);
        return Task.FromResult(new TestTreeNode("", true, children: [assembly]));
    }

    public Task RunAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
    {
        effects.Begins("run-tests");
        var names = All(request.Platform).Where(name => Matches(request, name)).ToList();
        var run = native.StartTests(request.RunId, names);
        // Entering Play Mode reloads the domain: the run goes on behind it.
        if (request.Platform == TestPlatform.PlayMode && !request.DisablesDomainReload) reload();
        return Listen(run, listener, cancellation);
    }

    public Task? AttachAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
    {
        var run = native.RunOf(request.RunId);
        return run == null || run.Ended ? null : Listen(run, listener, cancellation);
    }

    public IReadOnlyList<UnsavedScene> UnsavedScenes() => native.Script.UnsavedScenes
        .Select(path => new UnsavedScene(Path.GetFileNameWithoutExtension(path), path.Contains('/') ? path : ""))
        .ToList();

    public IReadOnlyList<UnsavedScene> SaveScenes(IReadOnlyList<UnsavedScene> scenes)
    {
        effects.Begins("save " + string.Join(" ", scenes.Select(scene => scene.Path)));
        native.Script.UnsavedScenes = [];
        return [];
    }

    private static Task Listen(TestRun run, ITestRunListener listener, CancellationToken cancellation)
    {
        var done = new TaskCompletionSource();
        listener.Started(run.Total);
        run.EndListener = () =>
        {
            if (cancellation.IsCancellationRequested) done.TrySetCanceled(cancellation);
            else done.TrySetResult();
        };
        run.Listener = test => listener.Finished(new TestCaseResult(
            test.Name,
            test.Passed ? TestVerdict.Passed : TestVerdict.Failed,
            test.Seconds,
            test.Passed ? "" : "Expected: True  But was: False",
            test.Passed ? "" : $"  at {test.Name} () [0x00000] in Assets/Tests/SimulatedTests.cs:12",
            className: test.Name[..test.Name.LastIndexOf('.')]));
        cancellation.Register(run.Cancel);
        return done.Task;
    }

    /// <summary>What an expression means comes by its names, as Unity's own filter has no limit.</summary>
    private static bool Matches(TestRunRequest request, string name) => request.FilterKind switch
    {
        TestFilterKind.Exact => name == request.FilterValue,
        TestFilterKind.Regex or TestFilterKind.Category => request.Picked!.Names?.Any(one => name == one || name.StartsWith(one + ".", StringComparison.Ordinal)) != false,
        _ => true,
    };

    private IEnumerable<string> All(TestPlatform platform) =>
        Enumerable.Range(1, native.Script.Tests).Select(index => $"Simulated.{platform}.Test{index:000}");
}
