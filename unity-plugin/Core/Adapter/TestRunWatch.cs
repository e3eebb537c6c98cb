#nullable enable
namespace JobBroker.Bridge.Adapter
{
    public enum TestRunState
    {
        /// <summary>Its tests run, or are about to.</summary>
        Running,

        /// <summary>The framework has told the end of its tests and still restores scenes and settings, or leaves play mode.</summary>
        CleaningUp,

        Ended,

        /// <summary>The framework does not run it any more and has told no end.</summary>
        Vanished,
    }

    /// <summary>
    /// Follows one test run by what the framework tells and by what can be seen: its job, and play mode. A framework of 1.1 has
    /// no job any more for a PlayMode run that entered play mode with a domain reload, and lets the job go before play mode
    /// has been left; none of them tells the end of a run that is cancelled. Pure.
    /// </summary>
    public sealed class TestRunWatch
    {
        /// <summary>How long nothing may be seen of a run: after a domain reload it takes a while to be picked up.</summary>
        public const int PickUpMs = 10_000;

        /// <summary>How long a run's clean-up may take; after that, its report counts without it.</summary>
        public const int CleanUpMs = 60_000;

        private readonly bool playsToRun;
        private bool isTold;
        private long since;

        /// <param name="playsToRun">A PlayMode run: its tests run as long as the Editor plays.</param>
        /// <param name="isTold">Its end was told before a domain reload.</param>
        public TestRunWatch(bool playsToRun, bool isTold, long nowMs)
        {
            this.playsToRun = playsToRun;
            this.isTold = isTold;
            since = nowMs;
        }

        /// <summary>The framework tells the end of its tests, or that it gives up.</summary>
        public void Tell(long nowMs)
        {
            if (isTold) return;
            isTold = true;
            since = nowMs;
        }

        /// <param name="hasJob">Whether the framework has the run's job; null where that cannot be known.</param>
        /// <param name="isPlaying">Play mode, the ways into it and out of it included.</param>
        public TestRunState Look(bool? hasJob, bool isPlaying, long nowMs)
        {
            if (isTold)
            {
                var isBusy = hasJob == true || isPlaying;
                return isBusy && nowMs - since < CleanUpMs ? TestRunState.CleaningUp : TestRunState.Ended;
            }
            if (hasJob != false || (playsToRun && isPlaying)) since = nowMs;
            return nowMs - since < PickUpMs ? TestRunState.Running : TestRunState.Vanished;
        }
    }
}
