namespace JobBroker.EditorHost.Native;

/// <summary>One finished test of a run.</summary>
public sealed record FinishedTest(string Name, bool Passed, double Seconds);

/// <summary>A run of the test framework: it survives a domain reload, its listeners do not. Main thread only.</summary>
public sealed class TestRun
{
    /// <summary>How often a run looks for a listener before it goes on without one.</summary>
    private const int PatienceInLooks = 500;

    private readonly MainLoop loop;
    private readonly double secondsEach;
    private readonly Queue<string> left;
    private readonly Func<string, bool> fails;
    private readonly Action ended;
    private int unheard;

    public TestRun(MainLoop loop, string id, IReadOnlyList<string> names, double secondsEach, Func<string, bool> fails, Action ended)
    {
        this.loop = loop;
        this.secondsEach = secondsEach;
        this.fails = fails;
        this.ended = ended;
        Id = id;
        Total = names.Count;
        left = new Queue<string>(names);
        loop.After(secondsEach, Advance);
    }

    public string Id { get; }

    public int Total { get; }

    public bool Ended { get; private set; }

    /// <summary>Receives each finished test; null while no script domain listens, and the run waits for one for a while.</summary>
    public Action<FinishedTest>? Listener { get; set; }

    public Action? EndListener { get; set; }

    public void Cancel() => left.Clear();

    /// <summary>A domain reload takes the listeners away.</summary>
    public void Detach()
    {
        Listener = null;
        EndListener = null;
    }

    private void Advance()
    {
        if (Listener == null && unheard++ < PatienceInLooks)
        {
            loop.After(0.01, Advance);
            return;
        }
        unheard = 0;
        if (left.TryDequeue(out var name)) Listener?.Invoke(new FinishedTest(name, !fails(name), secondsEach));
        if (left.Count > 0)
        {
            loop.After(secondsEach, Advance);
            return;
        }
        Ended = true;
        ended();
        EndListener?.Invoke();
    }
}
