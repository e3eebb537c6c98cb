namespace JobBroker.EditorHost.Native;

/// <summary>How the stand-in's tests, builds and compilations go; the control channel changes it. Times in seconds.</summary>
public sealed class Script
{
    public int Tests { get; set; } = 10;

    public int TestFailures { get; set; }

    public double TestSeconds { get; set; } = 0.05;

    /// <summary>Scenes with unsaved changes, by their paths; one without a folder has no file.</summary>
    public string[] UnsavedScenes { get; set; } = [];

    public double BuildSeconds { get; set; } = 3;

    public bool BuildFails { get; set; }

    public double CompileSeconds { get; set; } = 0.1;

    /// <summary>How many updates a compilation needs at least.</summary>
    public const int CompileUpdates = 3;

    public int CompileErrors { get; set; }

    /// <summary>Whether a compilation without errors is followed by a domain reload, as in Unity.</summary>
    public bool CompileReloads { get; set; }

    public double PackageSeconds { get; set; } = 0.1;

    /// <summary>How long the main thread is held to import for another platform.</summary>
    public double SwitchSeconds { get; set; } = 0.1;

    /// <summary>Objects in the open scene.</summary>
    public int SceneObjects { get; set; } = 20;

    /// <summary>Whether the open scene has unsaved changes.</summary>
    public bool SceneIsDirty { get; set; }

    /// <summary>Whether entering play mode reloads the domain, as it does unless a project has that switched off.</summary>
    public bool PlayModeReloads { get; set; } = true;
}
