using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>A project of paths and types; whether letter case counts is the disk's, as in Unity.</summary>
public sealed class InMemoryAssets : IAssets
{
    private readonly Dictionary<string, AssetEntry> entries = new(StringComparer.Ordinal);
    private int made;

    public InMemoryAssets()
    {
        Add("Assets", "DefaultAsset", true);
    }

    public bool IgnoresCase { get; set; }

    /// <summary>Files that nobody has imported.</summary>
    public HashSet<string> OnDisk { get; } = new();

    public List<string> Trash { get; } = new();

    /// <summary>What was asked of Unity, in order.</summary>
    public List<string> Done { get; } = new();

    /// <summary>Unity's reason against everything that would change something.</summary>
    public string? Refusal { get; set; }

    public IEnumerable<string> Paths => entries.Keys.OrderBy(path => path, StringComparer.Ordinal);

    public void Add(string path, string type, bool isFolder = false) =>
        entries[path] = new AssetEntry(path, $"guid{++made}", type, isFolder);

    public IReadOnlyList<string> Find(string filter, IReadOnlyList<string> folders)
    {
        var words = filter.Split(new[] { ' ' }, StringSplitOptions.RemoveEmptyEntries);
        return entries.Values
            .Where(one => folders.Any(folder => one.Path.StartsWith(folder + "/", StringComparison.Ordinal)))
            .Where(one => words.All(word => word.StartsWith("t:", StringComparison.Ordinal)
                ? one.Type == word[2..]
                : one.Path[(one.Path.LastIndexOf('/') + 1)..].IndexOf(word, StringComparison.OrdinalIgnoreCase) >= 0))
            .Select(one => one.Path)
            .ToList();
    }

    public AssetEntry? Get(string path) =>
        KeyOf(path) is { } key && entries[key] is var one ? new AssetEntry(path, one.Guid, one.Type, one.IsFolder) : null;

    public bool IsOnDisk(string path) => OnDisk.Contains(path) || KeyOf(path) != null;

    /// <summary>Folders that are links.</summary>
    public HashSet<string> Links { get; } = new();

    public string? LinkIn(string path) => Links.FirstOrDefault(link => path == link || path.StartsWith(link + "/", StringComparison.Ordinal));

    public IReadOnlyList<ComponentProperty> ImportSettings(string path) =>
        Get(path)?.Type == "Texture2D" ? [new ComponentProperty("m_IsReadable", "bool", "false")] : [];

    public void Refresh() => Done.Add("Refresh");

    public void Reimport(string path) => Done.Add("Reimport " + path);

    public string? Move(string from, string to) => Do($"Move {from} {to}", () =>
    {
        foreach (var key in Below(from))
        {
            var one = entries[key];
            entries.Remove(key);
            entries[to + key[from.Length..]] = one;
        }
    });

    public string? Copy(string from, string to) => Do($"Copy {from} {to}", () => Add(to, Get(from)!.Type, Get(from)!.IsFolder));

    public string? MoveToTrash(string path) => Do("Trash " + path, () =>
    {
        foreach (var key in Below(KeyOf(path)!)) entries.Remove(key);
        Trash.Add(path);
    });

    public string? CreateFolder(string parent, string name) =>
        Do($"Folder {parent}/{name}", () => Add($"{parent}/{name}", "DefaultAsset", true));

    public string? CreateMaterial(string path, string shader) => shader == "Nope"
        ? "There is no shader Nope."
        : Do($"Material {path} {shader}", () => Add(path, "Material"));

    public string? CreatePrefab(SceneObject source, string path) =>
        Do($"Prefab {source.Path} {path}", () =>
        {
            if (Get(path) == null) Add(path, "GameObject");
        });

    private string? Do(string what, Action change)
    {
        if (Refusal != null) return Refusal;
        Done.Add(what);
        change();
        return null;
    }

    private List<string> Below(string path) =>
        entries.Keys.Where(key => key == path || key.StartsWith(path + "/", StringComparison.Ordinal)).ToList();

    private string? KeyOf(string path) => entries.Keys.FirstOrDefault(key =>
        string.Equals(key, path, IgnoresCase ? StringComparison.OrdinalIgnoreCase : StringComparison.Ordinal));
}
