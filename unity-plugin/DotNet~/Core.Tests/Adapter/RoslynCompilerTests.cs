#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Runtime.Versioning;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Code;
using Xunit;

namespace JobBroker.Bridge.Tests.Adapter;

/// <summary>The real C# compiler of the .NET SDK, in processes of its own.</summary>
[UnsupportedOSPlatform("windows")]
public sealed class RoslynCompilerTests : IDisposable
{
    private readonly List<string> logged = [];
    private readonly RoslynCompiler compiler;

    public RoslynCompilerTests()
    {
        compiler = new RoslynCompiler(Sdk, TestRuntime.References, new Log(logged));
    }

    public void Dispose() => compiler.Dispose();

    [Fact]
    public async Task Compiles_and_loads()
    {
        var code = await compiler.CompileAsync(
            "public static class Made { public static string Say() => \"é \" + (40 + 2); }", "Made1", default);
        Assert.Empty(code.Messages);
        var answer = code.Assembly!.GetType("Made")!.GetMethod("Say")!.Invoke(null, null);
        Assert.Equal("é 42", answer);
    }

    [Fact]
    public async Task Says_what_is_wrong_and_where()
    {
        var code = await compiler.CompileAsync("class A\n{\n    int x = nothing;\n}", "Made2", default);
        Assert.Null(code.Assembly);
        var message = Assert.Single(code.Messages, message => message.IsError);
        Assert.Equal((3, 13), (message.Line, message.Column));
        Assert.StartsWith("CS0103", message.Message);
    }

    [Fact]
    public async Task A_compiler_that_is_not_there_is_a_message()
    {
        using var none = new RoslynCompiler(() => null, TestRuntime.References, new Log(logged));
        var code = await none.CompileAsync("class A { }", "Made3", default);
        Assert.Contains("not found", Assert.Single(code.Messages).Message);

        using var broken = new RoslynCompiler(() => new RoslynLocation("/nowhere/dotnet", "/nowhere/csc.dll"), TestRuntime.References, new Log(logged));
        code = await broken.CompileAsync("class A { }", "Made3", default);
        Assert.Contains("could not be run", Assert.Single(code.Messages).Message);
    }

    [Fact]
    public async Task Closing_ends_the_compilers_process_and_threads()
    {
        using var program = new HangingProgram();
        var hanging = new RoslynCompiler(() => new RoslynLocation(program.Path, "csc.dll"), TestRuntime.References, new Log(logged));
        var compiling = hanging.CompileAsync("class A { }", "Made4", default);
        var pid = await program.Started;

        var clock = Stopwatch.StartNew();
        hanging.Dispose();

        Assert.True(clock.ElapsedMilliseconds < 60_000, $"closing took {clock.ElapsedMilliseconds} ms");
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => compiling);
        Assert.False(HangingProgram.IsAlive(pid));
        Assert.Empty(logged);
    }

    [Fact]
    public async Task Cancelling_ends_the_compilers_process()
    {
        using var program = new HangingProgram();
        using var cancellation = new CancellationTokenSource();
        using var hanging = new RoslynCompiler(() => new RoslynLocation(program.Path, "csc.dll"), TestRuntime.References, new Log(logged));
        var compiling = hanging.CompileAsync("class A { }", "Made5", cancellation.Token);
        var pid = await program.Started;

        cancellation.Cancel();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => compiling);
        Assert.False(HangingProgram.IsAlive(pid));
    }

    private static RoslynLocation Sdk() => new(TestRuntime.Dotnet, TestRuntime.Compiler);

    private sealed class Log(List<string> logged) : IBridgeLog
    {
        public void Info(string message)
        {
            lock (logged) logged.Add(message);
        }

        public void Warn(string message) => Info(message);
    }
}
