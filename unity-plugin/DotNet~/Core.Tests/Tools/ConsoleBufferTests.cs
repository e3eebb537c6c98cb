#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>The bridge's copy of the Console: Unity's entries, and what was written since.</summary>
public sealed class ConsoleBufferTests : ISessionStore
{
    private readonly Dictionary<string, string> session = [];
    private readonly InMemoryConsole console = new();

    [Fact]
    public void Begins_with_what_the_Editors_Console_has()
    {
        using var buffer = new ConsoleBuffer(console);
        Assert.Empty(buffer.Lines(out var asOf));
        Assert.Null(asOf);
        console.Entries = [Entry("loaded"), Entry("oh", ConsoleLineType.Error)];
        buffer.Refresh(500);
        console.Write("since", atMs: 600);

        Assert.Equal(["loaded 500", "oh 500", "since 600"], Texts(buffer, out asOf));
        Assert.Equal(500, asOf);
        buffer.Refresh(700);
        Assert.Equal(["loaded 500", "oh 500", "since 600"], Texts(buffer, out asOf));
        Assert.Equal(500, asOf);
    }

    [Fact]
    public void Becomes_what_the_Editors_Console_has_and_keeps_the_times_that_it_knows()
    {
        using var buffer = new ConsoleBuffer(console);
        console.Write("cleared by a person", atMs: 1);
        console.Write("twice", atMs: 2);
        console.Write("twice", atMs: 3);
        console.Entries = [Entry("twice"), Entry("Assets/A.cs(3,4): error CS1002: ; expected", ConsoleLineType.Error)];
        buffer.Refresh(9);
        Assert.Equal(["twice 3", "Assets/A.cs(3,4): error CS1002: ; expected 9"], Texts(buffer, out _));

        // The next compilation has no errors.
        console.Entries = [Entry("twice")];
        buffer.Refresh(10);
        Assert.Equal(["twice 3"], Texts(buffer, out _));
    }

    [Fact]
    public void A_line_that_is_written_while_the_Console_is_read_is_there_once()
    {
        using var buffer = new ConsoleBuffer(console);
        console.Write("tick", atMs: 1);
        console.Entries = [Entry("tick"), Entry("in both")];
        console.WhileReading = () =>
        {
            console.Write("tick", atMs: 2);
            console.Write("in both", atMs: 3);
        };
        buffer.Refresh(4);
        Assert.Equal(["tick 1", "in both 3", "tick 2"], Texts(buffer, out _));
    }

    [Fact]
    public void Times_outlive_the_script_domain()
    {
        using (var before = new ConsoleBuffer(console, this))
        {
            console.Write("early", atMs: 1);
            console.Write("late", atMs: 2);
            before.SaveTo(this);
        }
        using var after = new ConsoleBuffer(console, this);
        console.Entries = [Entry("early"), Entry("late"), Entry("while nobody listened")];
        after.Refresh(9);
        Assert.Equal(["early 1", "late 2", "while nobody listened 9"], Texts(after, out _));
    }

    [Fact]
    public void Keeps_the_newest()
    {
        using var buffer = new ConsoleBuffer(console, capacity: 2);
        console.Entries = [Entry("a"), Entry("b"), Entry("c")];
        console.WhileReading = () => console.Write("d", atMs: 4);
        buffer.Refresh(3);
        console.WhileReading = null;
        Assert.Equal(["c 3", "d 4"], Texts(buffer, out _));
        console.Write("e", atMs: 5);
        Assert.Equal(["d 4", "e 5"], Texts(buffer, out _));
    }

    string? ISessionStore.Get(string key) => session.GetValueOrDefault(key);

    void ISessionStore.Set(string key, string? value) => session[key] = value ?? "";

    private static ConsoleLine Entry(string text, ConsoleLineType type = ConsoleLineType.Log) => new(type, text, "", 0);

    private static IEnumerable<string> Texts(ConsoleBuffer buffer, out long? asOf) =>
        buffer.Lines(out asOf).Select(line => $"{line.Message} {line.AtMs}");
}
