#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Unity;
using JobBroker.EditorStubs;
using UnityEditor.Compilation;
using UnityEngine;
using Xunit;

namespace JobBroker.Bridge.Editor.Tests;

/// <summary>Unity's own entries: everything that its Console has, whatever a person lets its window show.</summary>
public sealed class ConsoleEntriesTests
{
    private const int ScriptCompileError = 1 << 11;
    private const int ScriptCompileWarning = 1 << 12;

    private readonly StubbedEditor editor = new();

    [Fact]
    public void Lines_from_before_the_script_domain_are_taken_once_with_all_levels_and_no_filter()
    {
        StubEditor.HidesConsole = false;
        StubEditor.Write("loading", "at A", LogType.Log);
        StubEditor.Write("loading", "at A", LogType.Log);
        StubEditor.Write("careful", "", LogType.Warning);
        StubEditor.Write("oh", "at B\nat C", LogType.Exception);
        StubEditor.ConsoleFlags = 1 | 256;
        StubEditor.ConsoleFilter = "careful";

        using var console = Console();
        var entries = console.TakeEntries(3)!;

        Assert.Equal(["Log loading at A", "Warning careful ", "Error oh at B\nat C"], entries.Select(Text));
        Assert.All(entries, entry => Assert.Equal(0, entry.AtMs));
        Assert.Equal((1 | 256, "careful"), (StubEditor.ConsoleFlags, StubEditor.ConsoleFilter));
        Assert.Null(console.TakeEntries(3));
    }

    [Fact]
    public void The_compilers_messages_are_taken_after_every_compilation_also_one_that_no_tool_asked_for()
    {
        using var console = Console();
        console.TakeEntries(10);
        CompilationPipeline.Run();
        StubEditor.ConsoleEntries.Add(("Assets/A.cs(3,4): error CS1002: ; expected", "", ScriptCompileError));
        StubEditor.ConsoleEntries.Add(("Assets/A.cs(5,4): warning CS0168: unused", "", ScriptCompileWarning));

        var entries = console.TakeEntries(10)!;
        Assert.Equal([ConsoleLineType.Error, ConsoleLineType.Warning], entries.Select(entry => entry.Type));
        Assert.Equal("Assets/A.cs(3,4): error CS1002: ; expected", entries[0].Message);

        // Some come a moment later.
        Assert.Null(console.TakeEntries(10));
        editor.Clock.ElapsedMs += 1000;
        Assert.NotNull(console.TakeEntries(10));
        Assert.Null(console.TakeEntries(10));
    }

    [Fact]
    public void Where_the_console_cannot_be_read_the_compilers_messages_are_told_and_that_is_said_once()
    {
        StubEditor.HidesConsole = true;
        try
        {
            using var console = Console();
            var told = new List<ConsoleLine>();
            console.LineWritten += told.Add;
            Assert.Null(console.TakeEntries(10));
            CompilationPipeline.Run(new UnityEditor.Compilation.CompilerMessage
            {
                type = CompilerMessageType.Error, message = "Assets/A.cs(3,4): error CS1002: ; expected",
            });
            Assert.Null(console.TakeEntries(10));

            Assert.Equal(["Error Assets/A.cs(3,4): error CS1002: ; expected "], told.Select(Text));
            Assert.Single(StubEditor.Console, line => line.Contains("get-logs"));
        }
        finally
        {
            StubEditor.HidesConsole = false;
        }
    }

    private static string Text(ConsoleLine line) => $"{line.Type} {line.Message} {line.StackTrace}";

    private UnityConsole Console() => new(editor.Clock, new UnityLog());
}
