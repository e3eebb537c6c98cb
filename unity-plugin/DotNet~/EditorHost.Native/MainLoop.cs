using System.Collections.Concurrent;
using System.Diagnostics;

namespace JobBroker.EditorHost.Native;

/// <summary>The Editor's main thread: it ticks, runs what was posted, and may be blocked or unfocused.</summary>
public sealed class MainLoop
{
    private const int FocusedTickMs = 10;
    private const int UnfocusedTickMs = 1000;

    private readonly ConcurrentQueue<Action> posted = new();
    private readonly PriorityQueue<Action, long> timers = new();
    private readonly AutoResetEvent wake = new(false);
    private readonly Stopwatch clock = Stopwatch.StartNew();
    private volatile bool stopped;
    private long tickedAt;
    private int threadId;

    /// <summary>Called on the main thread with every tick.</summary>
    public event Action? Ticked;

    public bool IsCurrent => Environment.CurrentManagedThreadId == threadId;

    /// <summary>An unfocused Editor ticks at 1 Hz unless it is woken.</summary>
    public volatile bool Focused = true;

    /// <summary>True when not even a wake-up makes it tick early.</summary>
    public volatile bool Parked;

    /// <summary>Milliseconds since the last tick: what the control channel itself measures.</summary>
    public long StallMs => clock.ElapsedMilliseconds - Interlocked.Read(ref tickedAt);

    /// <summary>Runs until <see cref="Stop"/>; the calling thread is the main thread from now on.</summary>
    public void Run()
    {
        threadId = Environment.CurrentManagedThreadId;
        while (!stopped)
        {
            Tick();
            wake.WaitOne(NextTickMs());
            if (Parked && !Focused) Thread.Sleep(UnfocusedTickMs);
        }
    }

    public void Stop()
    {
        stopped = true;
        wake.Set();
    }

    /// <summary>Asks for an early tick. Any thread.</summary>
    public void Wake() => wake.Set();

    /// <summary>Runs an action with a later tick. Any thread.</summary>
    public void Post(Action action)
    {
        posted.Enqueue(action);
        wake.Set();
    }

    /// <summary>Runs a function on the main thread and answers its result. Any thread but the main one.</summary>
    public Task<T> On<T>(Func<T> function)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        Post(() =>
        {
            try
            {
                done.SetResult(function());
            }
            catch (Exception error)
            {
                done.SetException(error);
            }
        });
        return done.Task;
    }

    /// <summary>Runs an action after so many seconds. Main thread only.</summary>
    public void After(double seconds, Action action) =>
        timers.Enqueue(action, clock.ElapsedMilliseconds + (long)(seconds * 1000));

    private void Tick()
    {
        Interlocked.Exchange(ref tickedAt, clock.ElapsedMilliseconds);
        for (var left = posted.Count; left > 0 && posted.TryDequeue(out var action); left--) action();
        while (timers.TryPeek(out _, out var due) && due <= clock.ElapsedMilliseconds) timers.Dequeue()();
        Ticked?.Invoke();
        Interlocked.Exchange(ref tickedAt, clock.ElapsedMilliseconds);
    }

    private int NextTickMs()
    {
        if (!posted.IsEmpty) return 0;
        var tick = Focused ? FocusedTickMs : UnfocusedTickMs;
        if (!timers.TryPeek(out _, out var due)) return tick;
        return (int)Math.Clamp(due - clock.ElapsedMilliseconds, 0, tick);
    }
}
