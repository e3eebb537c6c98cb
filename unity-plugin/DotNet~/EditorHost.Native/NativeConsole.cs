namespace JobBroker.EditorHost.Native;

/// <summary>The Console: it outlives script domains, and tells them neither what was there before nor the compiler's messages.</summary>
public sealed class NativeConsole
{
    private readonly List<NativeLine> entries = [];
    private HashSet<NativeLine> compilers = [];

    public event Action<NativeLine>? LineWritten;

    public event Action? Compiled;

    public void Write(string type, string message)
    {
        var line = new NativeLine(type, message, DateTimeOffset.UtcNow.ToUnixTimeMilliseconds());
        lock (entries) entries.Add(line);
        LineWritten?.Invoke(line);
    }

    /// <summary>The messages of a compilation take the place of those of the one before.</summary>
    public void EndCompilation(IEnumerable<string> errors)
    {
        lock (entries)
        {
            entries.RemoveAll(compilers.Contains);
            compilers = errors.Select(error => new NativeLine("Error", error, 0)).ToHashSet();
            entries.AddRange(compilers);
        }
        Compiled?.Invoke();
    }

    public IReadOnlyList<NativeLine> Entries()
    {
        lock (entries) return entries.ToArray();
    }

    public int Clear()
    {
        lock (entries)
        {
            var count = entries.Count;
            entries.RemoveAll(line => !compilers.Contains(line));
            return count;
        }
    }

    public void DetachDomain()
    {
        LineWritten = null;
        Compiled = null;
    }
}
