#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using UnityEditor;
using UnityEditor.TestTools.TestRunner.Api;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Unity's test framework. A run goes on over a domain reload, callbacks do not: they are registered anew, and the
    /// session store says which run is ours. It is watched to its end whether or not somebody listens. Callbacks come from
    /// every run, also a person's own: only those of our run are forwarded.
    /// Main thread only.
    /// </summary>
    internal sealed class UnityTests : ITestRunner, IErrorCallbacks, IDisposable
    {
        private const string RunKey = "JobBroker.TestRun";
        private const string GuidKey = "JobBroker.TestRunGuid";
        private const string PlaysKey = "JobBroker.TestRunPlays";
        private const string ToldKey = "JobBroker.TestRunTold";

        /// <summary>A run that is not ours has begun and has not ended.</summary>
        private const string OtherKey = "JobBroker.OtherTestRun";

        private readonly ISessionStore store;
        private readonly IClock clock;
        private readonly string projectPath;
        private readonly TestRunnerApi api = ScriptableObject.CreateInstance<TestRunnerApi>();
        private readonly DomainReloadDisableScope playMode;
        private readonly List<Action<ListenedRun>> unheard = new List<Action<ListenedRun>>();
        private TestRunWatch? watch;
        private ListenedRun? listened;
        private long madeAt;

        public UnityTests(ISessionStore store, IClock clock, string projectPath)
        {
            this.store = store;
            this.clock = clock;
            this.projectPath = projectPath;
            playMode = new DomainReloadDisableScope(projectPath);
            madeAt = clock.ElapsedMs;
            if (HasRun) watch = new TestRunWatch(store.Get(PlaysKey) != null, store.Get(ToldKey) != null, madeAt);
            // Unity's objects outlive scenes and script domains: neither may a new scene take it, nor a reload leave it.
            api.hideFlags = HideFlags.HideAndDontSave;
            api.RegisterCallbacks(this);
        }

        public bool CanCancel => TestFramework.CanCancel;

        /// <summary>Whether tests run: ours, also those that a reload cut, or a person's.</summary>
        public bool IsRunning => HasRun || AnotherRuns();

        private bool HasRun => store.Get(RunKey) != null;

        private static bool IsPlaying => EditorApplication.isPlaying || EditorApplication.isPlayingOrWillChangePlaymode;

        public Task<TestTreeNode> ListAsync(TestPlatform platform)
        {
            var listed = new TaskCompletionSource<TestTreeNode>();
            api.RetrieveTestList(TestFramework.ModeOf(platform), root =>
            {
                try
                {
                    listed.TrySetResult(TestFramework.NodeOf(root));
                }
                catch (Exception error)
                {
                    listed.TrySetException(error);
                }
            });
            return listed.Task;
        }

        public Task RunAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
        {
            if (IsRunning)
            {
                throw new ToolException(
                    "tests_running", "Tests run in this Editor already. Wait until they have ended, then call run-tests again.");
            }
            cancellation.ThrowIfCancellationRequested();
            var plays = request.Platform == TestPlatform.PlayMode;
            if (plays && request.DisablesDomainReload) playMode.Enter();
            store.Set(RunKey, request.RunId);
            store.Set(PlaysKey, plays ? "1" : null);
            watch = new TestRunWatch(plays, false, clock.ElapsedMs);
            listened = new ListenedRun(request, listener, cancellation);
            var task = listened.Task;
            try
            {
                store.Set(GuidKey, api.Execute(TestFramework.Settings(request)));
            }
            catch
            {
                Forget();
                throw;
            }
            return task;
        }

        public Task? AttachAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
        {
            if (store.Get(RunKey) != request.RunId) return null;
            if (listened != null) throw new InvalidOperationException("A run is listened to already.");
            listened = new ListenedRun(request, listener, cancellation);
            foreach (var tell in unheard) tell(listened);
            unheard.Clear();
            return listened.Task;
        }

        public IReadOnlyList<UnsavedScene> UnsavedScenes() => SceneFiles.Unsaved();

        public IReadOnlyList<UnsavedScene> SaveScenes(IReadOnlyList<UnsavedScene> scenes) => SceneFiles.Save(scenes, projectPath);

        /// <summary>
        /// After a crash of the Editor or the bridge in mid-run: the project's own choice is put back once nothing of ours runs.
        /// </summary>
        public void Recover()
        {
            if (!HasRun) playMode.Restore();
        }

        public void RestorePlayModeOptions() => playMode.Restore();

        public void Tick()
        {
            if (store.Get(OtherKey) != null && !IsPlaying && !OtherJobs().Any()) store.Set(OtherKey, null);
            if (watch == null) return;
            if (listened is { WantsCancel: true } && store.Get(GuidKey) is { } guid)
            {
                listened.WantsCancel = false;
                TestFramework.Cancel(guid);
            }
            var state = watch.Look(HasJob(), IsPlaying, clock.ElapsedMs);
            if (state != TestRunState.Ended && state != TestRunState.Vanished) return;
            // After a reload its end is kept until somebody listens again, or does not.
            if (listened == null && clock.ElapsedMs - madeAt < TestRunWatch.PickUpMs) return;
            var run = listened;
            var fault = store.Get(ToldKey) ?? "";
            Forget();
            if (state == TestRunState.Vanished) run?.Vanish();
            else if (fault.Length == 0) run?.Succeed();
            else run?.Fail(fault);
        }

        public void RunStarted(ITestAdaptor testsToRun)
        {
            if (IsOurs()) Tell(run => run.Listener.Started(TestFramework.Count(testsToRun, run.Request)));
            else store.Set(OtherKey, "1");
        }

        public void TestStarted(ITestAdaptor test)
        {
        }

        public void TestFinished(ITestResultAdaptor result)
        {
            if (result.Test.IsSuite || !IsOurs()) return;
            var testCase = TestFramework.Result(result);
            Tell(run => run.Listener.Finished(testCase));
        }

        public void RunFinished(ITestResultAdaptor result) => EndTold("");

        public void OnError(string message) =>
            EndTold(string.IsNullOrEmpty(message) ? "The test framework failed." : message);

        public void Dispose()
        {
            api.UnregisterCallbacks(this);
            UnityEngine.Object.DestroyImmediate(api);
        }

        /// <summary>The framework's clean-up still follows: <see cref="Tick"/> ends the run.</summary>
        private void EndTold(string fault)
        {
            if (!IsOurs()) return;
            watch?.Tell(clock.ElapsedMs);
            store.Set(ToldKey, fault);
        }

        /// <summary>After a reload the framework may go on before the operation does: what it tells is kept until then.</summary>
        private void Tell(Action<ListenedRun> what)
        {
            if (listened != null) what(listened);
            else unheard.Add(what);
        }

        /// <summary>
        /// Whether what the framework tells is of our run: it has our job, or none. None it has for a PlayMode run of 1.1 after a
        /// reload, and when it gives up.
        /// </summary>
        private bool IsOurs()
        {
            if (watch == null || store.Get(ToldKey) != null) return false;
            var jobs = TestFramework.Jobs();
            return jobs == null || jobs.Count == 0 || jobs.Contains(store.Get(GuidKey) ?? "");
        }

        private bool? HasJob() => TestFramework.Jobs()?.Contains(store.Get(GuidKey) ?? "");

        private IEnumerable<string> OtherJobs() =>
            (TestFramework.Jobs() ?? new string[0]).Where(job => job != store.Get(GuidKey));

        private bool AnotherRuns() =>
            store.Get(OtherKey) != null || OtherJobs().Any() || (!HasRun && TestFramework.IsRunActive());

        private void Forget()
        {
            listened?.Dispose();
            listened = null;
            watch = null;
            unheard.Clear();
            foreach (var key in new[] { RunKey, GuidKey, PlaysKey, ToldKey }) store.Set(key, null);
            playMode.Restore();
        }
    }
}
