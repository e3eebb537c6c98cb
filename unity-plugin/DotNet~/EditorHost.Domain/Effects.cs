using JobBroker.Bridge.Code;
using JobBroker.Bridge.Ports;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

/// <summary>Counts an effect for the operation that is on the main thread.</summary>
internal sealed class Effects(NativeEditor native, Func<string> operation)
{
    private string? counted;

    public void Begins(string what) => native.Counter.Append(operation(), what);

    /// <summary>The same for what one call may ask Unity for in several steps.</summary>
    public void BeginsOnce(string what)
    {
        var now = operation();
        if (counted == now) return;
        counted = now;
        Begins(what);
    }
}

internal sealed class HostMenu(NativeEditor native, Effects effects) : IMenu
{
    public IReadOnlyList<MenuItemEntry> List() =>
        MenuTable.Listed.Select(path => new MenuItemEntry(path, null, null)).ToList();

    public bool Execute(string path)
    {
        if (!MenuTable.Has(path)) return false;
        effects.Begins(path);
        native.Block(MenuTable.SecondsOf(path));
        if (path == "Simulator/Fail") throw new InvalidOperationException("The menu item threw an exception.");
        native.Write("Log", "Executed " + path);
        return true;
    }
}

internal sealed class HostBuilds(NativeEditor native, Effects effects, Action reload) : IBuildRunner
{
    private static readonly string[] Steps =
        ["Preparing", "Compiling scripts", "Building scenes", "Packaging assets", "Linking", "Post-processing"];

    public string ActiveTarget => native.Project.ActiveTarget;

    public string? PlayerExtension => null;

    public IReadOnlyList<string> SupportedTargets => ["Android", "StandaloneLinux64"];

    public IReadOnlyList<string>? Profiles => native.Project.Profiles;

    public string? ActiveProfile => native.Project.ActiveProfile;

    public string? Switch(string target)
    {
        effects.Begins("set-build-target");
        native.Project.Switch(target, null, reload);
        return null;
    }

    public string? SwitchToProfile(string path)
    {
        effects.Begins("set-build-target");
        native.Project.Switch("StandaloneLinux64", path, reload);
        return null;
    }

    public BuildOutcome Build(BuildRequest request, Action<string, double> step)
    {
        effects.Begins("build-player");
        native.Phase = "building";
        var seconds = native.Script.BuildSeconds;
        for (var i = 0; i < Steps.Length; i++)
        {
            step(Steps[i], (double)i / Steps.Length);
            native.Block(seconds / Steps.Length);
        }
        native.Rest();
        var fails = native.Script.BuildFails;
        if (!fails) native.AssetsChanged();
        string[] messages = fails ? ["error: the scripted build fails"] : [];
        var files = fails ? [] : Write(request.OutputPath);
        return new BuildOutcome(
            !fails, fails ? "Failed" : "Succeeded", request.OutputPath, 1024, seconds, messages.Length, 0, messages, files);
    }

    /// <summary>A player of two files, where the project is on disk; and what Unity reports beside it.</summary>
    private List<BuiltFile> Write(string output)
    {
        if (!Directory.Exists(native.ProjectPath)) return [];
        var folder = Path.GetDirectoryName(output)!;
        var data = Path.Combine(folder, "Data", "level0");
        Directory.CreateDirectory(Path.GetDirectoryName(data)!);
        File.WriteAllText(output, "a player");
        File.WriteAllText(data, "a level");
        return
        [
            new(data, 7, "Scene"),
            new(Path.Combine(native.ProjectPath, "Temp", "StagingArea", "level0"), 7, "Scene"),
        ];
    }
}

internal sealed class HostCompiler(NativeEditor native, Effects effects, Action reload) : ICompiler
{
    public Task<CompileOutcome> CompileAsync(bool force, CancellationToken cancellation)
    {
        effects.Begins("compile");
        return Compile();
    }

    /// <summary>Finds what was changed beside the Editor, which does not look by itself.</summary>
    public Task<CompileOutcome>? RefreshAsync()
    {
        native.Project.Refresh();
        return PendingAsync();
    }

    public Task<CompileOutcome>? PendingAsync() => native.Project.HasChangedScripts ? Compile() : null;

    private Task<CompileOutcome> Compile()
    {
        native.Project.HasChangedScripts = false;
        native.Phase = "compiling";
        var done = new TaskCompletionSource<CompileOutcome>();
        native.Loop.After(native.Script.CompileSeconds * native.TimeScale, () =>
        {
            var errors = Enumerable.Range(0, native.Script.CompileErrors).Select(index =>
                new CompilerMessage(true, "error CS1002: ; expected", $"Assets/Scripts/Script{index}.cs", index + 1, 1));
            var messages = errors.ToList();
            if (messages.Count == 0) native.Project.Compiled();
            var reloads = messages.Count == 0 && native.Script.CompileReloads;
            native.AssetsChanged();
            native.CompileErrors = messages.Select(one => $"{one.File}({one.Line},{one.Column}): {one.Message}").ToList();
            native.Rest();
            native.Console.EndCompilation(native.CompileErrors);
            done.TrySetResult(new CompileOutcome(true, messages, reloads));
            if (reloads) reload();
        }, Script.CompileUpdates);
        return done.Task;
    }

    public IReadOnlyList<CompilerMessage> Errors() => CompilerOutput.Parse(string.Join('\n', native.CompileErrors));
}
