using System.Collections.Concurrent;
using System.Diagnostics;

namespace JobBroker.EditorHost.Native;

/// <summary>
/// The Editor's main thread: it updates, runs what was posted, and may be blocked, unfocused or parked. What the control channel asks for
/// runs between two updates, as a message of the system does.
/// </summary>
public sealed class MainLoop
{
    private const int FocusedTickMs = 10;
    private const int UnfocusedTickMs = 1000;

    private readonly ConcurrentQueue<Action> commands = new();
    private readonly ConcurrentQueue<Action> posted = new();
    private readonly List<Timer> timers = [];
    private readonly AutoResetEvent wake = new(false);
    private readonly Stopwatch clock = Stopwatch.StartNew();
    private volatile bool stopped;
    private volatile bool parks;
    private int signalled;
    private long tickedAt;
    private long updates;
    private int threadId;

    /// <summary>Called on the main thread with every update.</summary>
    public event Action? Ticked;

    public bool IsCurrent => Environment.CurrentManagedThreadId == threadId;

    /// <summary>An unfocused Editor ticks at 1 Hz unless it is woken.</summary>
    public volatile bool Focused = true;

    /// <summary>In the background, on a system that parks it: there is no update but one for each <see cref="SignalTick"/>.</summary>
    public bool Parks
    {
        get => parks;
        set
        {
            parks = value;
            wake.Set();
        }
    }

    public long Updates => Interlocked.Read(ref updates);

    /// <summary>Milliseconds since the last tick: what the control channel itself measures.</summary>
    public long StallMs => clock.ElapsedMilliseconds - Interlocked.Read(ref tickedAt);

    /// <summary>Runs until <see cref="Stop"/>; the calling thread is the main thread from now on.</summary>
    public void Run()
    {
        threadId = Environment.CurrentManagedThreadId;
        while (!stopped)
        {
            while (commands.TryDequeue(out var command)) command();
            if (Interlocked.Exchange(ref signalled, 0) == 1 || !Parks) Update();
            wake.WaitOne(Parks ? Timeout.Infinite : NextTickMs());
        }
    }

    public void Stop()
    {
        stopped = true;
        wake.Set();
    }

    /// <summary>Asks for an early update, as EditorApplication.SignalTick does. Any thread.</summary>
    public void SignalTick()
    {
        Interlocked.Exchange(ref signalled, 1);
        wake.Set();
    }

    /// <summary>Runs an action with a later update, which it does not ask a parked Editor for. Any thread.</summary>
    public void Post(Action action)
    {
        posted.Enqueue(action);
        if (!Parks) wake.Set();
    }

    /// <summary>Runs an action on the main thread, between two updates. Any thread.</summary>
    public void Command(Action action)
    {
        commands.Enqueue(action);
        wake.Set();
    }

    /// <summary>Runs a function on the main thread, between two updates, and answers its result. Any thread but the main one.</summary>
    public Task<T> On<T>(Func<T> function)
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        Command(() =>
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

    /// <summary>Runs an action with an update: after so many seconds, and after so many updates at least. Main thread only.</summary>
    public void After(double seconds, Action action, int updates = 1) =>
        timers.Add(new Timer(clock.ElapsedMilliseconds + (long)(seconds * 1000), this.updates + updates, action));

    private void Update()
    {
        Interlocked.Exchange(ref tickedAt, clock.ElapsedMilliseconds);
        Interlocked.Increment(ref updates);
        for (var left = posted.Count; left > 0 && posted.TryDequeue(out var action); left--) action();
        foreach (var timer in timers.Where(IsDue).OrderBy(timer => timer.DueMs).ToList())
        {
            timers.Remove(timer);
            timer.Action();
        }
        Ticked?.Invoke();
        Interlocked.Exchange(ref tickedAt, clock.ElapsedMilliseconds);
    }

    private bool IsDue(Timer timer) => timer.DueMs <= clock.ElapsedMilliseconds && timer.Update <= updates;

    private int NextTickMs()
    {
        if (!posted.IsEmpty) return 0;
        var tick = Focused ? FocusedTickMs : UnfocusedTickMs;
        if (timers.Count == 0) return tick;
        return (int)Math.Clamp(timers.Min(timer => timer.DueMs) - clock.ElapsedMilliseconds, 0, tick);
    }

    private sealed record Timer(long DueMs, long Update, Action Action);
}
