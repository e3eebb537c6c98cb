using System.Diagnostics;
using System.Text.Json.Nodes;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost;

/// <summary>The Editor process: the native side, its main loop, and whichever script domain is loaded.</summary>
public sealed class Host
{
    private const int LastLookMs = 500;

    private readonly DomainLoader loader;
    private bool quitting;

    public Host(NativeEditor native, HostSettings settings)
    {
        Native = native;
        loader = new DomainLoader(native, settings, () => native.Loop.Post(() => Reload(0)));
        native.Loop.Ticked += () => loader.Domain?.Pump();
    }

    public NativeEditor Native { get; }

    /// <summary>The present script domain; null for the moment of a reload.</summary>
    public IScriptDomain? Domain => loader.Domain;

    /// <summary>Loads the first script domain on the calling thread, which becomes the main thread, and runs until it quits.</summary>
    public void Run(Action<IScriptDomain> ready)
    {
        Native.Loop.Command(() =>
        {
            loader.Load();
            ready(loader.Domain!);
        });
        Native.Loop.Run();
    }

    /// <summary>
    /// A domain reload: everything of the bridge ends, nobody listens for a while, and a new domain begins. Main thread
    /// only. Answers whether the threads ended in time, which of the bridge's threads are alive, and whether the old
    /// domain was really unloaded.
    /// </summary>
    public JsonObject Reload(int downMs)
    {
        if (quitting) return new JsonObject { ["quitting"] = true };
        var inTime = loader.Unload(out var unloading);
        var left = ThreadsLeft();
        var gone = DomainLoader.IsGone(unloading);
        if (downMs > 0) Thread.Sleep(downMs);
        loader.Load();
        return new JsonObject
        {
            ["inTime"] = inTime,
            ["threadsLeft"] = new JsonArray([.. left.Select(name => (JsonNode?)JsonValue.Create(name))]),
            ["unloaded"] = gone,
        };
    }

    /// <summary>Quits as a user quits the Editor. Main thread only.</summary>
    public void Quit()
    {
        if (quitting) return;
        quitting = true;
        loader.Domain?.Quit();
        Native.Loop.Stop();
    }

    /// <summary>Those that stay: the operating system still shows one for a moment after it was joined.</summary>
    private static List<string> ThreadsLeft()
    {
        var clock = Stopwatch.StartNew();
        var left = BridgeThreads();
        while (left.Count > 0 && clock.ElapsedMilliseconds < LastLookMs)
        {
            Thread.Sleep(1);
            left = BridgeThreads();
        }
        return left;
    }

    /// <summary>The bridge's threads as the operating system sees them; empty where it does not tell.</summary>
    private static List<string> BridgeThreads()
    {
        if (!Directory.Exists("/proc/self/task")) return [];
        return Directory.GetDirectories("/proc/self/task").Select(NameOf)
            .Where(name => name.StartsWith("jb-", StringComparison.Ordinal)).ToList();
    }

    private static string NameOf(string task)
    {
        try
        {
            return File.ReadAllText(Path.Combine(task, "comm")).Trim();
        }
        catch (IOException)
        {
            // It ended while we looked.
            return "";
        }
    }
}
