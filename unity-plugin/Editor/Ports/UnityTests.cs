#nullable enable
using System;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using UnityEditor.TestTools.TestRunner.Api;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Unity's test framework. A run goes on over a domain reload, callbacks do not: they are registered anew, and the
    /// session store says whose run it is. Callbacks come from every run, also a person's own: only those of our run
    /// are forwarded.
    /// Main thread only.
    /// </summary>
    internal sealed class UnityTests : ITestRunner, IErrorCallbacks, IDisposable
    {
        private const string RunKey = "JobBroker.TestRun";
        private const string GuidKey = "JobBroker.TestRunGuid";
        private const string ToldKey = "JobBroker.TestRunTold";

        /// <summary>
        /// How long the framework may know nothing of a run that has not reported its end: after a reload it takes a while
        /// to pick it up.
        /// </summary>
        private const int PickUpMs = 10000;

        /// <summary>How long the clean-up of a run may take; after that, its report counts without it.</summary>
        private const int CleanUpMs = 60000;

        private readonly ISessionStore store;
        private readonly IClock clock;
        private readonly TestRunnerApi api = ScriptableObject.CreateInstance<TestRunnerApi>();
        private readonly DomainReloadDisableScope playMode;
        private Run? current;

        public UnityTests(ISessionStore store, IClock clock)
        {
            this.store = store;
            this.clock = clock;
            playMode = new DomainReloadDisableScope(store);
            // Unity's objects outlive scenes and script domains: neither may a new scene take it, nor a reload leave it.
            api.hideFlags = HideFlags.HideAndDontSave;
            api.RegisterCallbacks(this);
        }

        public bool CanCancel => TestFramework.CanCancel;

        /// <summary>Whether a run of ours is under way, this script domain's or one that a reload cut.</summary>
        public bool IsRunning => store.Get(RunKey) != null;

        public Task RunAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
        {
            if (TestFramework.IsRunActive() == true)
            {
                throw new InvalidOperationException("Tests are running in this Editor already; wait until they have ended.");
            }
            cancellation.ThrowIfCancellationRequested();
            var run = Begin(request, listener, cancellation);
            store.Set(RunKey, request.RunId);
            try
            {
                if (request.Platform == TestPlatform.PlayMode) playMode.Enter();
                store.Set(GuidKey, api.Execute(TestFramework.Settings(request)));
            }
            catch
            {
                Forget();
                throw;
            }
            return run.Task;
        }

        public Task? AttachAsync(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation) =>
            store.Get(RunKey) == request.RunId ? Begin(request, listener, cancellation).Task : null;

        /// <summary>
        /// After a crash of the bridge in mid-run: the project's own choice is put back once nothing runs.
        /// </summary>
        public void Recover()
        {
            if (!IsRunning) playMode.Restore();
        }

        public void RestorePlayModeOptions() => playMode.Restore();

        public void Tick()
        {
            var run = current;
            if (run == null) return;
            if (run.WantsCancel && store.Get(GuidKey) is { } guid)
            {
                run.WantsCancel = false;
                TestFramework.Cancel(guid);
            }
            var isActive = TestFramework.IsRunActive();
            if (run.Told is { } told)
            {
                // Scenes and settings are not restored yet, and the framework refuses another run.
                if (isActive == true && clock.ElapsedMs - run.LastActiveMs < CleanUpMs) return;
                if (told.Length == 0) End(one => one.Succeed());
                else End(one => one.Fail(told));
                return;
            }
            if (isActive != false)
            {
                run.LastActiveMs = clock.ElapsedMs;
                return;
            }
            // A run that is cancelled, or whose scenes a person did not want to save, tells nobody that it has ended.
            if (clock.ElapsedMs - run.LastActiveMs >= PickUpMs) End(one => one.Vanish());
        }

        public void RunStarted(ITestAdaptor testsToRun)
        {
            var run = current;
            run?.Listener.Started(TestFramework.Count(testsToRun, run.Request));
        }

        public void TestStarted(ITestAdaptor test)
        {
        }

        public void TestFinished(ITestResultAdaptor result)
        {
            if (result.Test.IsSuite) return;
            current?.Listener.Finished(TestFramework.Result(result));
        }

        public void RunFinished(ITestResultAdaptor result) => Tell("");

        public void OnError(string message) => Tell(string.IsNullOrEmpty(message) ? "The test framework failed." : message);

        public void Dispose()
        {
            api.UnregisterCallbacks(this);
            UnityEngine.Object.DestroyImmediate(api);
        }

        /// <summary>The framework's clean-up still follows: <see cref="Tick"/> ends the run.</summary>
        private void Tell(string fault)
        {
            var run = current;
            if (run == null || run.Told != null) return;
            run.Told = fault;
            run.LastActiveMs = clock.ElapsedMs;
            store.Set(ToldKey, fault);
        }

        private Run Begin(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
        {
            if (current != null) throw new InvalidOperationException("A run is listened to already.");
            current = new Run(request, listener, cancellation, clock.ElapsedMs) { Told = store.Get(ToldKey) };
            return current;
        }

        private void End(Action<Run> report)
        {
            var run = current;
            if (run == null) return;
            Forget();
            report(run);
        }

        private void Forget()
        {
            current?.Dispose();
            current = null;
            store.Set(RunKey, null);
            store.Set(GuidKey, null);
            store.Set(ToldKey, null);
            playMode.Restore();
        }

        private sealed class Run : IDisposable
        {
            private readonly TaskCompletionSource<bool> ended = new TaskCompletionSource<bool>();
            private readonly CancellationToken cancellation;
            private readonly CancellationTokenRegistration registration;
            private volatile bool wantsCancel;

            public Run(
                TestRunRequest request,
                ITestRunListener listener,
                CancellationToken cancellation,
                long nowMs)
            {
                Request = request;
                Listener = listener;
                this.cancellation = cancellation;
                LastActiveMs = nowMs;
                registration = cancellation.Register(() => wantsCancel = true);
            }

            public TestRunRequest Request { get; }

            public ITestRunListener Listener { get; }

            public long LastActiveMs { get; set; }

            /// <summary>What went wrong, as the framework told at the end of its tests; empty for nothing, null before.</summary>
            public string? Told { get; set; }

            /// <summary>Set from any thread.</summary>
            public bool WantsCancel
            {
                get => wantsCancel;
                set => wantsCancel = value;
            }

            public Task Task => ended.Task;

            /// <summary>
            /// A run that was asked to stop has stopped: the framework reports its end like any other.
            /// </summary>
            public void Succeed()
            {
                if (cancellation.IsCancellationRequested) ended.TrySetCanceled();
                else ended.TrySetResult(true);
            }

            /// <summary>The framework does not run it any more and has told no end.</summary>
            public void Vanish()
            {
                if (cancellation.IsCancellationRequested) ended.TrySetCanceled();
                else Fail("The test framework no longer runs these tests: a domain reload or a person has ended the run.");
            }

            public void Fail(string message) => ended.TrySetException(new InvalidOperationException(message));

            public void Dispose() => registration.Dispose();
        }
    }
}
