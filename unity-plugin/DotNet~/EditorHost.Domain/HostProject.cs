using JobBroker.Bridge.Ports;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

internal sealed class HostAssets(NativeEditor native, Effects effects) : IAssets
{
    private NativeProject Project => native.Project;

    public IReadOnlyList<string> Find(string filter, IReadOnlyList<string> folders)
    {
        var words = filter.Split(' ', StringSplitOptions.RemoveEmptyEntries);
        return Project.Assets
            .Where(one => folders.Any(folder => one.Key.StartsWith(folder + "/", StringComparison.Ordinal)))
            .Where(one => words.All(word => word.StartsWith("t:", StringComparison.Ordinal)
                ? one.Value.Type == word[2..]
                : Path.GetFileName(one.Key).Contains(word, StringComparison.OrdinalIgnoreCase)))
            .Select(one => one.Key)
            .ToList();
    }

    public AssetEntry? Get(string path) => Project.Assets.TryGetValue(path, out var one)
        ? new AssetEntry(path, one.Guid, one.Type, one.IsFolder)
        : null;

    public bool IsOnDisk(string path) => Project.Assets.ContainsKey(path);

    /// <summary>Its project is none of the disk's.</summary>
    public string? LinkIn(string path) => null;

    public IReadOnlyList<ComponentProperty> ImportSettings(string path) =>
        Get(path)?.Type == "Texture2D" ? [new ComponentProperty("m_IsReadable", "bool", "false")] : [];

    public void Refresh() => Do(() => { });

    public void Reimport(string path) => Do(() => { });

    public string? Move(string from, string to) => Do(() => Project.Move(from, to));

    public string? Copy(string from, string to) => Do(() => Project.Copy(from, to));

    public string? MoveToTrash(string path) => Do(() => Project.Move(path, null));

    public string? CreateFolder(string parent, string name) =>
        Do(() => Project.Add($"{parent}/{name}", "DefaultAsset"));

    public string? CreateMaterial(string path, string shader) => Do(() => Project.Add(path, "Material"));

    public string? CreatePrefab(SceneObject source, string path) => Do(() => Project.Add(path, "GameObject"));

    private string? Do(Action change)
    {
        effects.BeginsOnce("manage-assets");
        change();
        return null;
    }
}

internal sealed class HostPackages(NativeEditor native, Effects effects, Action reload) : IPackages
{
    public IReadOnlyList<InstalledPackage> Installed() => native.Project.Packages
        .Select(one => new InstalledPackage(one.Name, one.Version, one.Source, one.Id, one.IsDirect))
        .ToList();

    public void BeginAdd(string id)
    {
        effects.Begins("manage-packages");
        native.Project.AddPackage(id, reload);
    }

    public void BeginRemove(string name)
    {
        effects.Begins("manage-packages");
        native.Project.RemovePackage(name, reload);
    }

    public PackageRequest Poll()
    {
        if (!native.Project.HasRequest) return new PackageRequest(PackageRequestState.Gone);
        var request = native.Project.Request;
        if (request == null) return new PackageRequest(PackageRequestState.Running);
        return request.Error == null
            ? new PackageRequest(PackageRequestState.Succeeded, "", request.Name, request.Version)
            : new PackageRequest(PackageRequestState.Failed, request.Error);
    }
}
