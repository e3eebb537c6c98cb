using System.Reflection;
using System.Runtime.CompilerServices;
using System.Runtime.Loader;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost;

/// <summary>Loads the script domain into a context of its own and unloads it, as a domain reload does. Main thread only.</summary>
public sealed class DomainLoader(NativeEditor native, HostSettings settings, Action requestReload)
{
    private const string Entry = "JobBroker.EditorHost.Domain.ScriptDomain";

    private static readonly string Folder = Path.Combine(AppContext.BaseDirectory, "domain");

    private AssemblyLoadContext? context;

    /// <summary>The present domain; null during a reload.</summary>
    public IScriptDomain? Domain { get; private set; }

    [MethodImpl(MethodImplOptions.NoInlining)]
    public void Load()
    {
        context = new DomainContext();
        var assembly = context.LoadFromAssemblyPath(Path.Combine(Folder, "JobBroker.EditorHost.Domain.dll"));
        var type = assembly.GetType(Entry, throwOnError: true)!;
        Domain = (IScriptDomain)Activator.CreateInstance(type, native, settings, requestReload)!;
    }

    /// <summary>Ends the domain; false when a thread of the bridge did not end in time.</summary>
    [MethodImpl(MethodImplOptions.NoInlining)]
    public bool Unload(out WeakReference unloading)
    {
        var inTime = Domain!.BeforeReload();
        Domain = null;
        native.DetachDomain();
        SynchronizationContext.SetSynchronizationContext(null);
        unloading = new WeakReference(context);
        context!.Unload();
        context = null;
        return inTime;
    }

    /// <summary>True when nothing holds the unloaded domain any more.</summary>
    public static bool IsGone(WeakReference unloading)
    {
        for (var i = 0; i < 10 && unloading.IsAlive; i++)
        {
            GC.Collect();
            GC.WaitForPendingFinalizers();
        }
        return !unloading.IsAlive;
    }

    /// <summary>Everything of the domain comes from its folder, but for what the native side shares with it.</summary>
    private sealed class DomainContext() : AssemblyLoadContext("script domain", isCollectible: true)
    {
        protected override Assembly? Load(AssemblyName name)
        {
            if (name.Name == typeof(NativeEditor).Assembly.GetName().Name) return typeof(NativeEditor).Assembly;
            var file = Path.Combine(Folder, name.Name + ".dll");
            return File.Exists(file) ? LoadFromAssemblyPath(file) : null;
        }
    }
}
