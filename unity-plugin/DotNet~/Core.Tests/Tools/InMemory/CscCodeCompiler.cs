using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text.RegularExpressions;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tests.Tools.InMemory;

/// <summary>
/// The C# compiler of the .NET SDK as a process of its own: the real thing, as the Editor has it beside it.
/// </summary>
public sealed class CscCodeCompiler : ICodeCompiler
{
    public async Task<CompiledCode> CompileAsync(string source, string assemblyName, CancellationToken cancellation)
    {
        var folder = Directory.CreateTempSubdirectory("jb-csc-").FullName;
        try
        {
            var input = Path.Combine(folder, "code.cs");
            var output = Path.Combine(folder, "code.dll");
            await File.WriteAllTextAsync(input, source, cancellation);
            var options = new List<string> { "/target:library", "/nologo", "/langversion:9", $"/out:{output}", input };
            options.AddRange(TestRuntime.References().Select(path => $"/reference:{path}"));
            var answers = Path.Combine(folder, "options.rsp");
            await File.WriteAllLinesAsync(answers, options.Select(option => $"\"{option}\""), cancellation);
            var text = await Run(TestRuntime.Compiler, "@" + answers, folder, cancellation);
            var messages = Messages(text);
            var built = File.Exists(output) && !messages.Any(message => message.IsError);
            return new CompiledCode(built ? Assembly.Load(await File.ReadAllBytesAsync(output, cancellation)) : null, messages);
        }
        finally
        {
            Directory.Delete(folder, true);
        }
    }

    private static async Task<string> Run(string csc, string argument, string folder, CancellationToken cancellation)
    {
        var start = new ProcessStartInfo(TestRuntime.Dotnet) { RedirectStandardOutput = true, WorkingDirectory = folder };
        start.ArgumentList.Add("exec");
        start.ArgumentList.Add(csc);
        start.ArgumentList.Add(argument);
        using var process = Process.Start(start)!;
        using var stop = cancellation.Register(() => process.Kill());
        var text = await process.StandardOutput.ReadToEndAsync(cancellation);
        await process.WaitForExitAsync(cancellation);
        return text;
    }

    private static List<CompilerMessage> Messages(string text) => Regex
        .Matches(text, @"^(?<file>.*)\((?<line>\d+),(?<column>\d+)\): (?<kind>error|warning) (?<message>.*)$", RegexOptions.Multiline)
        .Cast<Match>()
        .Select(match => new CompilerMessage(
            match.Groups["kind"].Value == "error",
            match.Groups["message"].Value.Trim(),
            match.Groups["file"].Value,
            int.Parse(match.Groups["line"].Value, CultureInfo.InvariantCulture),
            int.Parse(match.Groups["column"].Value, CultureInfo.InvariantCulture)))
        .ToList();
}
