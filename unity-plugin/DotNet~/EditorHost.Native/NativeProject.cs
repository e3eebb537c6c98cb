namespace JobBroker.EditorHost.Native;

/// <summary>An asset or a folder.</summary>
public sealed record NativeAsset(string Guid, string Type)
{
    public bool IsFolder => Type == "DefaultAsset";
}

/// <summary>A package that is registered.</summary>
public sealed record NativePackage(string Name, string Version, string Source, string Id, bool IsDirect = true);

/// <summary>How the Package Manager's request has ended; null while it runs.</summary>
public sealed record NativeRequest(string? Error, string Name, string Version);

/// <summary>The project: assets, packages and the platform. It outlives script domains. Main thread only.</summary>
public sealed class NativeProject(NativeEditor native)
{
    private const string FirstProfile = "Assets/Settings/Build Profiles/Demo.asset";

    private readonly SortedDictionary<string, NativeAsset> assets = new(StringComparer.Ordinal);
    private readonly List<NativePackage> packages =
    [
        new("com.unity.test-framework", "1.4.5", "Registry", "com.unity.test-framework@1.4.5"),
        new("com.unity.ugui", "2.0.0", "BuiltIn", "com.unity.ugui@2.0.0"),
        new("com.unity.ext.nunit", "2.0.5", "Registry", "com.unity.ext.nunit@2.0.5", false),
    ];

    private int made;

    public IReadOnlyDictionary<string, NativeAsset> Assets => assets;

    public IReadOnlyList<NativePackage> Packages => packages;

    /// <summary>Scripts have changed, and the Editor is about to compile them.</summary>
    public bool HasChangedScripts { get; set; }

    /// <summary>
    /// The scripts were changed beside the Editor: so many tests fail once they are compiled. Null when they were not.
    /// </summary>
    public int? EditedFailures { get; set; }

    public string ActiveTarget { get; private set; } = "Android";

    public string? ActiveProfile { get; private set; }

    public IReadOnlyList<string>? Profiles => native.UnityVersion.StartsWith('6') ? [FirstProfile] : null;

    /// <summary>The newest request of the Package Manager; null when there is none.</summary>
    public NativeRequest? Request { get; private set; }

    public bool HasRequest { get; private set; }

    /// <summary>What every project of the stand-in begins with.</summary>
    public NativeProject Filled()
    {
        foreach (var folder in new[] { "Assets", "Assets/Materials", "Assets/Scenes", "Assets/Scripts", "Assets/Textures" })
        {
            Add(folder, "DefaultAsset");
        }
        Add("Assets/Materials/Stone.mat", "Material");
        Add("Assets/Scenes/SampleScene.unity", "SceneAsset");
        Add("Assets/Scripts/Player.cs", "MonoScript");
        Add("Assets/Textures/Stone.png", "Texture2D");
        HasChangedScripts = false;
        return this;
    }

    /// <summary>Looks at the disk.</summary>
    public void Refresh()
    {
        if (EditedFailures != null) HasChangedScripts = true;
    }

    /// <summary>The scripts as they are on the disk compile, and are what runs.</summary>
    public void Compiled()
    {
        native.Script.TestFailures = EditedFailures ?? native.Script.TestFailures;
        EditedFailures = null;
    }

    public void Add(string path, string type)
    {
        assets[path] = new NativeAsset((++made).ToString("x32"), type);
        Changed(path);
    }

    /// <summary>The asset with all that is below it; to nowhere is the trash.</summary>
    public void Move(string from, string? to)
    {
        foreach (var path in Below(from))
        {
            if (to != null) assets[to + path[from.Length..]] = assets[path];
            assets.Remove(path);
            Changed(path);
        }
    }

    public void Copy(string from, string to)
    {
        foreach (var path in Below(from)) Add(to + path[from.Length..], assets[path].Type);
    }

    public void AddPackage(string id, Action reload)
    {
        var at = id.IndexOf('@');
        var isForeign = id.Contains("://") || id.StartsWith("file:");
        var name = isForeign ? "com.simulator.foreign" : at < 0 ? id : id[..at];
        var version = isForeign || at < 0 ? "1.0.0" : id[(at + 1)..];
        var source = id.StartsWith("file:") ? "Local" : isForeign ? "Git" : "Registry";
        Ask(() =>
        {
            if (name.Contains("missing")) return new NativeRequest($"Package [{id}] cannot be found", "", "");
            packages.RemoveAll(one => one.Name == name);
            packages.Add(new NativePackage(name, version, source, isForeign ? $"{name}@{id}" : $"{name}@{version}"));
            Recompile(reload);
            return new NativeRequest(null, name, version);
        });
    }

    public void RemovePackage(string name, Action reload) => Ask(() =>
    {
        packages.RemoveAll(one => one.Name == name);
        Recompile(reload);
        return new NativeRequest(null, "", "");
    });

    public void Switch(string target, string? profile, Action reload)
    {
        native.Block(native.Script.SwitchSeconds);
        ActiveTarget = target;
        ActiveProfile = profile;
        Recompile(reload);
    }

    private void Ask(Func<NativeRequest> end)
    {
        HasRequest = true;
        Request = null;
        native.Loop.After(native.Script.PackageSeconds * native.TimeScale, () => Request = end());
    }

    /// <summary>What Unity does by itself after packages or the platform changed.</summary>
    private void Recompile(Action reload)
    {
        native.AssetsChanged();
        native.Phase = "compiling";
        native.Loop.After(native.Script.CompileSeconds * native.TimeScale, () =>
        {
            native.Rest();
            if (native.Script.CompileReloads) reload();
        }, Script.CompileUpdates);
    }

    private List<string> Below(string path) =>
        assets.Keys.Where(key => key == path || key.StartsWith(path + "/", StringComparison.Ordinal)).ToList();

    private void Changed(string path)
    {
        native.AssetsChanged();
        if (path.EndsWith(".cs", StringComparison.Ordinal)) HasChangedScripts = true;
    }
}
