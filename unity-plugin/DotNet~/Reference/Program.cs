using JobBroker.Reference;
using Microsoft.CodeAnalysis.CSharp;
using Newtonsoft.Json.Linq;

if (args.Length < 3)
{
    Console.Error.WriteLine("Usage: dotnet run --project Reference -- <repository of UnityCsReference> <repository of com.unity.test-framework> <Unity version>…");
    return 2;
}
var versions = args.Skip(2).Select(Version.Parse).ToList();
var package = PackageFolder();
var count = 0;
foreach (var version in versions)
{
    // A branch is named as the version.
    // One compilation has one language version; that the adapter is C# 9 is what its own projects see to.
    var options = new CSharpParseOptions(LanguageVersion.Preview, preprocessorSymbols: Symbols(version));
    var unity = SourceTrees.OfRevision(args[0], version.ToString(2), options);
    var (frameworkVersion, isOfTheKit) = FrameworkFor(package, version);
    var framework = SourceTrees.OfRevision(args[1], "refs/tags/" + frameworkVersion, options);
    var core = SourceTrees.OfFolder(Path.Combine(package, "Core"), options);
    // The adapter, its tests for a real Editor, and the scripts of the kit.
    var ours = new[] { "Editor", Path.Combine("Tests", "Editor"), Path.Combine("RealEditor~", "Project", "Assets") }
        .SelectMany(folder => SourceTrees.OfFolder(Path.Combine(package, folder), options))
        .ToList();
    var check = new AdapterCheck(unity, framework, core, ours);
    var faults = check.Faults()
        .Concat(isOfTheKit ? check.ObsoleteInFramework() : [])
        .Concat(check.Missing(Internals(package, version)).Select(member => $"{member} is reached by reflection, and is not there"))
        .ToList();
    Console.WriteLine($"{version}: {unity.Count} files of Unity's, {check.MembersNamed()} of its members are named, test framework {frameworkVersion}, {faults.Count} faults");
    foreach (var fault in faults) Console.WriteLine("  " + fault);
    count += faults.Count;
}
return count == 0 ? 0 : 1;

// The version that the kit puts into its project's manifest (RealEditor~/kit/editor.mjs). Where it leaves that to the Editor, whose own
// framework is not published as source, the newest of the others.
static (string Version, bool IsOfTheKit) FrameworkFor(string package, Version version)
{
    var file = Path.Combine(package, "RealEditor~", "kit", "test-frameworks.json");
    var versions = JObject.Parse(File.ReadAllText(file)).Properties()
        .Where(one => Version.Parse(one.Name) <= version)
        .OrderBy(one => Version.Parse(one.Name))
        .Select(one => (string?)one.Value)
        .ToList();
    return (versions.Last(one => one != null)!, versions.Last() != null);
}

static IEnumerable<string> Symbols(Version version)
{
    yield return "UNITY_EDITOR";
    yield return "UNITY_EDITOR_LINUX";
    yield return "ENABLE_MONO";
    string[] versions =
    [
        "2019.3", "2020.1", "2020.2", "2020.3", "2021.1", "2021.2", "2021.3", "2022.2", "2022.3", "2023.1", "2023.2", "2023.3", "6000.0",
        "6000.3", "6000.5",
    ];
    foreach (var known in versions)
    {
        if (version >= Version.Parse(known)) yield return $"UNITY_{known.Replace('.', '_')}_OR_NEWER";
    }
    if (version.Major >= 6000) yield return "JOB_BROKER_TESTS_CAN_CANCEL";
}

// Rows of MEMBERS.md without a page; what stands behind the version is a package's, or the last version that is asked for it.
static IEnumerable<string> Internals(string package, Version version) =>
    File.ReadLines(Path.Combine(package, "DotNet~", "EditorStubs", "MEMBERS.md"))
        .Select(line => line.Split('|').Select(cell => cell.Trim()).ToArray())
        .Where(cells => cells.Length > 3 && cells[2] == "internal" && IsIn(cells[3], version))
        .Select(cells => cells[1].Trim('`'));

static bool IsIn(string since, Version version)
{
    if (since.StartsWith("test-framework", StringComparison.Ordinal)) return version.Major >= 6000 || !since.Contains("1.4");
    var range = since.Split(" to ");
    return Version.Parse(range[0]) <= version && (range.Length == 1 || Version.Parse(range[1]) >= version);
}

static string PackageFolder()
{
    for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder != null; folder = folder.Parent)
    {
        if (File.Exists(Path.Combine(folder.FullName, "package.json")) && Directory.Exists(Path.Combine(folder.FullName, "Core")))
        {
            return folder.FullName;
        }
    }
    throw new DirectoryNotFoundException("No folder above this program is the package.");
}
