using System.Diagnostics;
using System.Reflection;
using JobBroker.Bridge.Ports;

namespace JobBroker.EditorHost.Domain;

/// <summary>Compiles with the C# compiler of the .NET SDK that runs this host, out of process, as the Editor does with its own.</summary>
internal sealed class HostCode : ICodeCompiler
{
    public async Task<CompiledCode> CompileAsync(string source, string assemblyName, CancellationToken cancellation)
    {
        var folder = Directory.CreateTempSubdirectory("jb-code-").FullName;
        try
        {
            return await CompileIn(folder, source, assemblyName, cancellation);
        }
        finally
        {
            Directory.Delete(folder, true);
        }
    }

    private static async Task<CompiledCode> CompileIn(
        string folder, string source, string assemblyName, CancellationToken cancellation)
    {
        var output = Path.Combine(folder, assemblyName + ".dll");
        var file = Path.Combine(folder, "code.cs");
        await File.WriteAllTextAsync(file, source, cancellation);
        var runtime = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        var references = Directory.GetFiles(runtime, "*.dll").Where(IsManaged).Select(path => $"-r:\"{path}\"");
        var response = Path.Combine(folder, "code.rsp");
        string[] options = ["-nologo", "-target:library", "-nostdlib", $"-out:\"{output}\"", $"\"{file}\""];
        await File.WriteAllLinesAsync(response, options.Concat(references), cancellation);
        var start = new ProcessStartInfo("dotnet", ["exec", Compiler(), "@" + response]) { RedirectStandardOutput = true };
        using var compiler = Process.Start(start)!;
        var compilerOutput = await compiler.StandardOutput.ReadToEndAsync(cancellation);
        await compiler.WaitForExitAsync(cancellation);
        var messages = compilerOutput.Split('\n').Select(CompilerLine.Parse).OfType<CompilerMessage>().ToList();
        if (compiler.ExitCode != 0) return new CompiledCode(null, messages);
        return new CompiledCode(Assembly.Load(await File.ReadAllBytesAsync(output, cancellation)), messages);
    }

    private static bool IsManaged(string path)
    {
        try
        {
            AssemblyName.GetAssemblyName(path);
            return true;
        }
        catch (BadImageFormatException)
        {
            return false;
        }
    }

    private static string Compiler()
    {
        var runtime = Path.GetDirectoryName(typeof(object).Assembly.Location)!;
        var root = Path.GetFullPath(Path.Combine(runtime, "..", "..", ".."));
        var found = Directory.GetDirectories(Path.Combine(root, "sdk"))
            .Select(sdk => Path.Combine(sdk, "Roslyn", "bincore", "csc.dll"))
            .LastOrDefault(File.Exists);
        return found ?? throw new InvalidOperationException("execute-code needs the .NET SDK here; only its runtime was found.");
    }
}
