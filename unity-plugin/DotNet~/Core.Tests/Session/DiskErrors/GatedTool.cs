#nullable enable
using System.Collections.Concurrent;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Tests.Session.DiskErrors;

public sealed class GatedCall
{
    /// <summary>Unique among all tests of the process.</summary>
    public string Key { get; set; } = "";

    public int Characters { get; set; }
}

public sealed class GatedResult
{
    public string Text { get; set; } = "";
}

/// <summary>Counts its calls and ends when it is told to.</summary>
[McpTool(Name = "gated-change")]
public sealed class GatedTool : AbstractUnityTool<GatedCall, GatedResult>
{
    private static readonly ConcurrentDictionary<string, GatedTool.Call> Calls = new();

    public static int Invocations(string key) => Calls.TryGetValue(key, out var call) ? call.Count : 0;

    public static void End(string key) => Calls[key].Ends.SetResult(true);

    protected override async Task<GatedResult> ExecuteAsync(GatedCall parameters, ToolContext context)
    {
        var call = Calls.GetOrAdd(parameters.Key, _ => new Call());
        Interlocked.Increment(ref call.Count);
        await call.Ends.Task.ConfigureAwait(false);
        return new GatedResult { Text = new string('x', parameters.Characters) };
    }

    private sealed class Call
    {
        public int Count;

        public TaskCompletionSource<bool> Ends { get; } = new(TaskCreationOptions.RunContinuationsAsynchronously);
    }
}

/// <summary>Reads much.</summary>
[McpTool(Name = "gated-read", Effect = ToolEffect.ReadOnly)]
public sealed class ReadingTool : AbstractUnityTool<GatedCall, GatedResult>
{
    protected override Task<GatedResult> ExecuteAsync(GatedCall parameters, ToolContext context) =>
        Task.FromResult(new GatedResult { Text = new string('x', parameters.Characters) });
}
