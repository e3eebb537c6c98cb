using System;
using System.IO;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class CompileToolTests : IDisposable
{
    private static readonly CompileOutcome Broken = new(
        true,
        new[]
        {
            new CompilerMessage(true, "CS1002: ; expected", "Assets/A.cs", 3, 7),
            new CompilerMessage(false, "CS0168: never used", "Assets/B.cs", 4, 1),
        },
        false);

    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private CompileTool Tool => new(editor.Services);

    [Fact]
    public async Task Errors_and_warnings_come_with_their_places()
    {
        var call = new ToolCall();
        var running = call.Run(Tool, new { ForceRecompile = true });
        Assert.Equal("Compiling", call.Reports.Single().Message);
        editor.Compiler.End(Broken);
        var answer = await running;
        Assert.False((bool)answer["Success"]!);
        Assert.Equal(1, (int)answer["ErrorCount"]!);
        Assert.Equal(1, (int)answer["WarningCount"]!);
        Assert.Equal(3, (int)answer["Errors"]![0]!["Line"]!);
        Assert.Equal("Assets/B.cs", (string?)answer["Warnings"]![0]!["File"]);
        Assert.Equal(new[] { true }, editor.Compiler.Forced);
    }

    [Fact]
    public async Task Nothing_to_compile_is_success_unless_the_scripts_are_still_broken()
    {
        var first = new ToolCall().Run(Tool);
        editor.Compiler.End(new CompileOutcome(false, Array.Empty<CompilerMessage>(), false));
        Assert.True((bool)(await first)["Success"]!);
        Assert.False((bool)(await first)["Compiled"]!);
        editor.Info.Phase = "compile_errors";
        var second = new ToolCall().Run(Tool);
        editor.Compiler.End(new CompileOutcome(false, Array.Empty<CompilerMessage>(), false));
        Assert.False((bool)(await second)["Success"]!);
        Assert.Contains("ForceRecompile", (string?)(await second)["Message"]);
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public async Task The_reload_that_follows_is_announced_but_not_behind_it(bool follows)
    {
        var call = new ToolCall();
        var running = call.Run(Tool);
        editor.Compiler.End(new CompileOutcome(true, Array.Empty<CompilerMessage>(), follows));
        await running;
        Assert.Equal(follows, call.Context.ReloadAnnounced);
        var after = new ToolCall();
        await Tool.ResumeAsync(new JObject(), call.Record, after.Context);
        Assert.False(after.Context.ReloadAnnounced);
    }

    [Fact]
    public async Task What_was_said_before_the_reload_is_answered_behind_it()
    {
        var call = new ToolCall();
        var running = call.Run(Tool);
        editor.Compiler.End(Broken);
        var before = await running;
        var text = call.Record!.ToString();
        var after = (JToken?)await Tool.ResumeAsync(new JObject(), JToken.Parse(text), new ToolCall().Context);
        Assert.True(JToken.DeepEquals(before, after));
        Assert.Single(editor.Compiler.Forced);
    }

    [Fact]
    public async Task The_record_is_there_when_the_compilation_has_ended_whatever_becomes_of_awaits()
    {
        var call = new ToolCall();
        using var frames = new FramesThatNeverCome();
        var running = Task.CompletedTask;
        frames.Do(() => running = call.Run(Tool));
        editor.Compiler.End(Broken);
        Assert.NotNull(call.Record);
        Assert.False(running.IsCompleted);
        await Task.CompletedTask;
    }

    [Fact]
    public async Task A_reload_before_any_message_is_an_interruption()
    {
        foreach (var record in new JToken?[] { null, JValue.CreateNull(), new JObject() })
        {
            var error = await Assert.ThrowsAsync<ToolException>(
                () => Tool.ResumeAsync(new JObject(), record, new ToolCall().Context));
            Assert.Equal("domain_reload", error.Type);
        }
        Assert.Empty(editor.Compiler.Forced);
    }

    [Fact]
    public async Task A_compiler_that_fails_fails_the_call()
    {
        var call = new ToolCall();
        var running = call.Run(Tool);
        editor.Compiler.Fail(new InvalidOperationException("in play mode"));
        Assert.Equal("in play mode", (await Assert.ThrowsAsync<InvalidOperationException>(() => running)).Message);
        Assert.Null(call.Record);
    }

    /// <summary>
    /// Unity's synchronization context when a domain reload follows: what is posted to it runs never.
    /// </summary>
    private sealed class FramesThatNeverCome : SynchronizationContext, IDisposable
    {
        private readonly SynchronizationContext? before = Current;

        public void Do(Action action)
        {
            SetSynchronizationContext(this);
            action();
            SetSynchronizationContext(before);
        }

        public override void Post(SendOrPostCallback callback, object? state)
        {
        }

        public void Dispose() => SetSynchronizationContext(before);
    }
}
