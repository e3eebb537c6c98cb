using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>With a real compiler in a process of its own.</summary>
public sealed class ExecuteCodeToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new(new CscCodeCompiler());

    public ExecuteCodeToolTests()
    {
        Unity = editor.Console;
    }

    public void Dispose() => editor.Dispose();

    /// <summary>What the executed code calls in place of Debug.Log.</summary>
    [ThreadStatic]
    public static InMemoryConsole? Unity;

    private const string Log = "JobBroker.Bridge.Tests.Tools.ExecuteCodeToolTests.Unity.Write";

    private ExecuteCodeTool Tool => new(editor.Services);

    private async Task<string> Result(string code)
    {
        var answer = await new ToolCall().Run(Tool, new { Code = code });
        Assert.True((bool)answer["Success"]!);
        return answer["Result"]!.ToString(Formatting.None);
    }

    [Fact]
    public async Task Statements_run_on_the_calling_thread_and_return_plain_data_as_json()
    {
        Assert.Equal("3", await Result("return 1 + 2;"));
        Assert.Equal("null", await Result("var unused = 1"));
        Assert.Equal(
            """{"a":[1,2],"b":"x","c":{"k":null},"d":"System.Object","e":1.5,"f":"NaN"}""",
            await Result(
                """
                using System.Text;
                // a comment before the statements
                var text = new StringBuilder("x").ToString();
                return new { a = new[] { 1, 2 }.Where(one => one > 0), b = text,
                    c = new Dictionary<string, object> { ["k"] = null }, d = new object(), e = 1.5, f = double.NaN };
                """));
        Assert.Equal(
            Environment.CurrentManagedThreadId.ToString(),
            await Result("return System.Threading.Thread.CurrentThread.ManagedThreadId;"));
    }

    [Fact]
    public async Task Logs_are_partial_results_and_in_the_result()
    {
        var call = new ToolCall();
        var code = $"{Log}(\"one\");\n{Log}(\"two\", JobBroker.Bridge.Ports.ConsoleLineType.Error);\nreturn 7;";
        var answer = await call.Run(Tool, new { Code = code });
        Assert.Equal(new[] { "one", "Error: two" }, answer["Logs"]!.ToObject<string[]>());
        var partials = call.Reports.Where(report => report.Partial != null).Select(report => report.Partial!.ToString(Formatting.None));
        Assert.Equal(new[] { """{"Logs":["one"]}""", """{"Logs":["one","Error: two"]}""" }, partials);
        Assert.Equal(1, editor.Console.Listeners);
    }

    [Fact]
    public async Task Errors_name_the_lines_and_columns_of_the_code_that_was_sent()
    {
        var error = await ToolCall.Fails(Tool, new { Code = "using System.Text;\n\nvar x = 1;\nint y = \"two\";\nMissing();" });
        Assert.Equal("compilation_failed", error.Type);
        Assert.Contains("(2 errors); nothing was run.", error.Message);
        Assert.Contains("line 4, column 9: CS0029", error.Message);
        Assert.Contains("line 5, column 1: CS0103", error.Message);
        var open = await ToolCall.Fails(Tool, new { Code = "if (true)\n{\n" });
        Assert.Matches("line 3, column \\d+: CS1513", open.Message);
        var directive = await ToolCall.Fails(Tool, new { Code = "\nusing Not.There;\nreturn 1;" });
        Assert.Contains("line 2, column 7: CS0246", directive.Message);
    }

    [Fact]
    public async Task An_exception_is_told_with_the_stack_of_the_code()
    {
        var call = new ToolCall();
        var error = await Assert.ThrowsAsync<ToolException>(
            () => call.Run(Tool, new { Code = $"{Log}(\"before\"); throw new InvalidOperationException(\"on purpose\");" }));
        Assert.Equal("runtime_exception", error.Type);
        Assert.Equal("The code threw InvalidOperationException: on purpose. What ran before that stays done: look before you call again.", error.Message);
        Assert.Contains("JobBrokerExecutedCode.Run", error.StackTrace);
        Assert.Equal("before", (string?)call.LastPartial!["Logs"]![0]);
        Assert.Equal(1, editor.Console.Listeners);
    }

    [Fact]
    public async Task Code_may_await_and_is_told_to_stop()
    {
        Assert.Equal("5", await Result("await Task.Yield();\nreturn 5;"));
        var call = new ToolCall();
        var running = call.Run(Tool, new { Code = "await Task.Delay(-1, cancellation);" });
        Assert.False(running.IsCompleted);
        call.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => running);
        var thrown = await ToolCall.Fails(Tool, new { Code = "await Task.Yield(); throw new OperationCanceledException();" });
        Assert.Equal("runtime_exception", thrown.Type);
    }

    [Fact]
    public async Task A_call_given_up_while_it_compiles_runs_nothing()
    {
        var call = new ToolCall();
        call.Cancel();
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => call.Run(Tool, new { Code = $"{Log}(\"ran\");" }));
        Assert.Empty(editor.Logs.Lines(out _));
    }

    [Fact]
    public async Task Compiling_only_runs_nothing()
    {
        var answer = await new ToolCall().Run(Tool, new { Code = $"{Log}(\"ran\");", CompileOnly = true });
        Assert.True((bool)answer["Success"]!);
        Assert.Empty(editor.Logs.Lines(out _));
        Assert.Equal(
            "compilation_failed",
            (await ToolCall.Fails(Tool, new { Code = "Missing();", CompileOnly = true })).Type);
        Assert.Equal("invalid_arguments", (await ToolCall.Fails(Tool, new { Code = " \n" })).Type);
    }

    [Fact]
    public async Task Very_many_logs_are_cut_and_said_to_be()
    {
        var answer = await new ToolCall().Run(Tool, new { Code = $"for (var i = 0; i < 1200; i++) {Log}(\"line\" + i);" });
        var logs = answer["Logs"]!.ToObject<string[]>()!;
        Assert.Equal(1001, logs.Length);
        Assert.Equal("... and 200 more; get-logs has the newest.", logs[^1]);
    }
}
