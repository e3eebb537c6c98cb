#nullable enable
using System.Collections.Generic;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Adapter
{
    /// <summary>
    /// Follows one script compilation by its events, with a watchdog for a compilation that never begins or never
    /// reports its end. Main thread only; the task ends within the call that reports the end, before the domain reload.
    /// </summary>
    public sealed class CompileMonitor
    {
        /// <summary>
        /// The quiet time after which no compilation is expected any more; an unfocused Editor ticks at 1 Hz.
        /// </summary>
        private const int QuietMs = 5000;

        private const int QuietTicks = 3;

        private readonly IClock clock;
        private readonly List<CompilerMessage> messages = new List<CompilerMessage>();
        private TaskCompletionSource<CompileOutcome>? waiting;
        private int assemblies;
        private int quietTicks;
        private long quietSince;

        public CompileMonitor(IClock clock)
        {
            this.clock = clock;
        }

        /// <summary>True from <see cref="Begin"/> to the task's end.</summary>
        public bool IsWaiting => waiting != null;

        /// <summary>The errors of the last compilation of this script domain, also of one that nobody waited for.</summary>
        public IReadOnlyList<CompilerMessage> Errors { get; private set; } = new CompilerMessage[0];

        /// <summary>Waits for the next requested compilation; returns the pending wait if there is one.</summary>
        public Task<CompileOutcome> Begin()
        {
            if (waiting == null)
            {
                waiting = new TaskCompletionSource<CompileOutcome>();
                Reset();
            }
            return waiting.Task;
        }

        /// <summary>A compilation begins; messages of earlier ones are discarded.</summary>
        public void Started() => Reset();

        public void AssemblyFinished(IEnumerable<CompilerMessage> assemblyMessages)
        {
            ResetQuiet();
            assemblies++;
            messages.AddRange(assemblyMessages);
        }

        /// <summary>The compilation has ended.</summary>
        public void Finished()
        {
            Errors = messages.Where(message => message.IsError).ToList();
            End();
        }

        /// <summary>A tick of the Editor.</summary>
        public void Tick(bool isBusy)
        {
            if (waiting == null) return;
            if (isBusy)
            {
                ResetQuiet();
                return;
            }
            quietTicks++;
            if (quietTicks >= QuietTicks && clock.ElapsedMs - quietSince >= QuietMs) End();
        }

        private void End()
        {
            var ended = waiting;
            waiting = null;
            if (ended == null) return;
            var hasErrors = messages.Any(message => message.IsError);
            ended.SetResult(new CompileOutcome(assemblies > 0, messages.ToArray(), assemblies > 0 && !hasErrors));
        }

        private void Reset()
        {
            messages.Clear();
            assemblies = 0;
            ResetQuiet();
        }

        private void ResetQuiet()
        {
            quietTicks = 0;
            quietSince = clock.ElapsedMs;
        }
    }
}
