#nullable enable
using System;
using System.IO;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

namespace JobBroker.Metas;

/// <summary>The text of one .meta file, and what is read from one.</summary>
public static partial class MetaText
{
    private const string Package = "org.jobbroker.unity-bridge";

    private const string Tail = "  externalObjects: {}\n  userData: \n  assetBundleName: \n  assetBundleVariant: \n";

    private const string MonoTail =
        "  externalObjects: {}\n  serializedVersion: 2\n  defaultReferences: []\n  executionOrder: 0\n  icon: {instanceID: 0}\n"
        + "  userData: \n  assetBundleName: \n  assetBundleVariant: \n";

    /// <summary>The GUID of a path: the same on every machine. Paths as in the package, with slashes.</summary>
    public static string GuidOf(string path)
    {
        var digest = SHA256.HashData(Encoding.UTF8.GetBytes(Package + "/" + path));
        return Convert.ToHexStringLower(digest.AsSpan(0, 16));
    }

    public static string For(string path, bool isFolder)
    {
        var importer = ImporterOf(path, isFolder);
        var folder = isFolder ? "folderAsset: yes\n" : "";
        var tail = importer == "MonoImporter" ? MonoTail : Tail;
        return $"fileFormatVersion: 2\nguid: {GuidOf(path)}\n{folder}{importer}:\n{tail}";
    }

    /// <summary>The importer that Unity uses for a file of that name.</summary>
    public static string ImporterOf(string path, bool isFolder)
    {
        if (isFolder) return "DefaultImporter";
        if (path == "package.json") return "PackageManifestImporter";
        return Path.GetExtension(path).ToLowerInvariant() switch
        {
            ".cs" => "MonoImporter",
            ".asmdef" => "AssemblyDefinitionImporter",
            ".asmref" => "AssemblyDefinitionReferenceImporter",
            ".json" or ".md" or ".txt" or ".xml" => "TextScriptImporter",
            var other => throw new NotSupportedException($"{path}: no importer is known for {other} files; add it to MetaText."),
        };
    }

    /// <summary>The GUID that a meta names; null when it names none.</summary>
    public static string? GuidIn(string meta) => GuidLine().Match(meta) is { Success: true } match ? match.Groups[1].Value : null;

    /// <summary>Whether a meta has the format and the importer that its file needs.</summary>
    public static bool Fits(string meta, string path, bool isFolder) =>
        meta.StartsWith("fileFormatVersion: 2\n", StringComparison.Ordinal)
        && meta.Contains($"\n{ImporterOf(path, isFolder)}:\n", StringComparison.Ordinal)
        && meta.Contains("\nfolderAsset: yes\n", StringComparison.Ordinal) == isFolder;

    [GeneratedRegex("^guid: ([0-9a-f]{32})$", RegexOptions.Multiline)]
    private static partial Regex GuidLine();
}
