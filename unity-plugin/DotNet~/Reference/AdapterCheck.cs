using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

namespace JobBroker.Reference;

/// <summary>
/// Compiles the adapter against a compilation of Unity's own source, and says what the compiler finds in the adapter. What is
/// wrong in Unity's part (its native half is not published) is nobody's concern.
/// </summary>
internal sealed class AdapterCheck
{
    private readonly CSharpCompilation unity;
    private readonly CSharpCompilation ours;
    private readonly IReadOnlyList<SyntaxTree> framework;
    private readonly IReadOnlyList<SyntaxTree> adapter;

    public AdapterCheck(
        IEnumerable<SyntaxTree> unity, IReadOnlyList<SyntaxTree> framework, IEnumerable<SyntaxTree> core, IReadOnlyList<SyntaxTree> adapter)
    {
        this.framework = framework;
        this.adapter = adapter;
        var platform = Platform().ToList();
        var options = new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true);
        this.unity = CSharpCompilation.Create("Unity", unity.Concat(framework), platform, options);
        ours = CSharpCompilation.Create("JobBroker.Bridge", core.Concat(adapter), platform.Append(this.unity.ToMetadataReference()), options);
    }

    /// <summary>One line for each fault, in the order of the files.</summary>
    public IEnumerable<string> Faults() => adapter
        .SelectMany(tree => ours.GetSemanticModel(tree).GetDiagnostics())
        .Where(one => one.Severity >= DiagnosticSeverity.Warning)
        .Select(one => one.ToString());

    /// <summary>Where the test framework uses what this Unity refuses to compile: CS0619.</summary>
    public IEnumerable<string> ObsoleteInFramework() => framework
        .SelectMany(tree => unity.GetSemanticModel(tree).GetDiagnostics())
        .Where(one => one.Id == "CS0619")
        .Select(one => one.ToString());

    /// <summary>Those of these members that Unity has not, neither public nor internal.</summary>
    public IEnumerable<string> Missing(IEnumerable<string> members) => members.Where(member =>
    {
        var dot = member.LastIndexOf('.');
        var type = unity.GetTypeByMetadataName(member[..dot]);
        return type == null || type.GetMembers(member[(dot + 1)..]).IsEmpty;
    });

    /// <summary>How many members of Unity's the adapter names.</summary>
    public int MembersNamed() => adapter.SelectMany(Named).Distinct(SymbolEqualityComparer.Default).Count();

    private IEnumerable<ISymbol> Named(SyntaxTree tree)
    {
        var model = ours.GetSemanticModel(tree);
        return tree.GetRoot().DescendantNodes().OfType<SimpleNameSyntax>()
            .Select(name => model.GetSymbolInfo(name).Symbol?.OriginalDefinition)
            .OfType<ISymbol>()
            .Where(symbol => symbol is not INamespaceSymbol && symbol.ContainingAssembly?.Name == unity.AssemblyName);
    }

    private static IEnumerable<MetadataReference> Platform()
    {
        var files = ((string)AppContext.GetData("TRUSTED_PLATFORM_ASSEMBLIES")!).Split(Path.PathSeparator);
        return files.Where(IsPlatform)
            .Append(typeof(Newtonsoft.Json.Linq.JObject).Assembly.Location)
            .Append(typeof(NUnit.Framework.TestAttribute).Assembly.Location)
            .Select(path => MetadataReference.CreateFromFile(path));
    }

    private static bool IsPlatform(string path) =>
        Path.GetFileName(path).StartsWith("System.", StringComparison.Ordinal)
        || Path.GetFileName(path) is "netstandard.dll" or "mscorlib.dll" or "Microsoft.Win32.Registry.dll";
}
