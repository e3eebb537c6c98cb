#nullable enable
using System;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Our run, as the operation of this script domain listens to it.</summary>
    internal sealed class ListenedRun : IDisposable
    {
        private readonly TaskCompletionSource<bool> ended = new TaskCompletionSource<bool>();
        private readonly CancellationToken cancellation;
        private readonly CancellationTokenRegistration registration;
        private volatile bool wantsCancel;

        public ListenedRun(TestRunRequest request, ITestRunListener listener, CancellationToken cancellation)
        {
            Request = request;
            Listener = listener;
            this.cancellation = cancellation;
            registration = cancellation.Register(() => wantsCancel = true);
        }

        public TestRunRequest Request { get; }

        public ITestRunListener Listener { get; }

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
