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

        /// <summary>How long after a reload the framework may take to pick its run up.</summary>
        private const int PickUpMs = 10000;

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
            var run = Begin(request, listener, cancellation, false);
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
            store.Get(RunKey) == request.RunId ? Begin(request, listener, cancellation, true).Task : null;

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
            if (run.Attached && TestFramework.IsRunActive() == false)
            {
                if (clock.ElapsedMs - run.LastActiveMs < PickUpMs) return;
                End(one => one.Fail("The test framework no longer runs these tests; a domain reload has ended the run."));
            }
            else
            {
                run.LastActiveMs = clock.ElapsedMs;
            }
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

        public void RunFinished(ITestResultAdaptor result) => End(run => run.Succeed());

        public void OnError(string message) => End(run => run.Fail(message));

        public void Dispose() => api.UnregisterCallbacks(this);

        private Run Begin(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation, bool attached)
        {
            if (current != null) throw new InvalidOperationException("A run is listened to already.");
            current = new Run(request, listener, cancellation, attached, clock.ElapsedMs);
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
                bool attached,
                long nowMs)
            {
                Request = request;
                Listener = listener;
                this.cancellation = cancellation;
                Attached = attached;
                LastActiveMs = nowMs;
                registration = cancellation.Register(() => wantsCancel = true);
            }

            public TestRunRequest Request { get; }

            public ITestRunListener Listener { get; }

            /// <summary>True for a run that another script domain began.</summary>
            public bool Attached { get; }

            public long LastActiveMs { get; set; }

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

            public void Fail(string message) => ended.TrySetException(new InvalidOperationException(message));

            public void Dispose() => registration.Dispose();
        }
    }
}
