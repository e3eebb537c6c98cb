namespace JobBroker.EditorHost.Native;

/// <summary>
/// What really happened, counted outside the Editor's memory: a line <c>[operation] [what] [epoch ms]</c> for everything
/// that begins to have an effect. No test may ever see one operation here twice. The simulator writes the same lines.
/// </summary>
public sealed class CounterFile(string file)
{
    private readonly object gate = new();

    public string File { get; } = file;

    public void Append(string operationId, string what)
    {
        var line = $"{operationId} {what} {DateTimeOffset.UtcNow.ToUnixTimeMilliseconds()}\n";
        lock (gate)
        {
            Directory.CreateDirectory(Path.GetDirectoryName(File)!);
            System.IO.File.AppendAllText(File, line);
        }
    }

    public string[] Lines()
    {
        lock (gate) return System.IO.File.Exists(File) ? System.IO.File.ReadAllLines(File) : [];
    }
}
