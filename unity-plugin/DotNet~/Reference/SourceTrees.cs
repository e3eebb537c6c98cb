using System.Diagnostics;
using System.Formats.Tar;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.Text;

namespace JobBroker.Reference;

/// <summary>C# files as syntax trees: of a revision of a git repository, or of a folder.</summary>
internal static class SourceTrees
{
    /// <summary>Folders that are none of Unity's API: tests, tools and generated projects.</summary>
    private static readonly string[] Foreign = ["/Tests/", "/Projects/", "/Tools/", "/artifacts/", "/Samples~/", "/Documentation~/"];

    /// <summary>Throws InvalidOperationException with git's own words when there is no such revision.</summary>
    public static IReadOnlyList<SyntaxTree> OfRevision(string repository, string revision, CSharpParseOptions options)
    {
        var start = new ProcessStartInfo("git", ["-C", repository, "archive", "--format=tar", revision])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        using var git = Process.Start(start)!;
        var errors = git.StandardError.ReadToEndAsync();
        var texts = new List<(string Path, string Text)>();
        using (var tar = new TarReader(git.StandardOutput.BaseStream, leaveOpen: true))
        {
            while (tar.GetNextEntry() is { } entry)
            {
                if (entry.DataStream == null || !IsWanted("/" + entry.Name)) continue;
                using var reader = new StreamReader(entry.DataStream);
                texts.Add(($"{revision}/{entry.Name}", reader.ReadToEnd()));
            }
        }
        // What fills the archive's last block: git must be able to write it.
        git.StandardOutput.BaseStream.CopyTo(Stream.Null);
        git.WaitForExit();
        if (git.ExitCode != 0) throw new InvalidOperationException(errors.Result.Trim());
        return texts.AsParallel().Select(file => Parse(file.Text, file.Path, options)).ToList();
    }

    public static IReadOnlyList<SyntaxTree> OfFolder(string folder, CSharpParseOptions options) =>
        Directory.EnumerateFiles(folder, "*.cs", SearchOption.AllDirectories)
            .Select(path => Parse(File.ReadAllText(path), path, options))
            .ToList();

    private static SyntaxTree Parse(string text, string path, CSharpParseOptions options) =>
        CSharpSyntaxTree.ParseText(SourceText.From(text, Encoding.UTF8), options, path);

    private static bool IsWanted(string path) =>
        path.EndsWith(".cs", StringComparison.Ordinal) && !Foreign.Any(folder => path.Contains(folder, StringComparison.Ordinal));
}
