using System;
using System.Threading.Tasks;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>Tools of a project as they come, most of them wrong in one way.</summary>
public static class ToolFixtures
{
    public sealed class NoParameters
    {
    }

    public sealed class Answer
    {
        public string Text { get; set; } = "";
    }

    public abstract class Answering : AbstractUnityTool<NoParameters, Answer>
    {
        protected override Task<Answer> ExecuteAsync(NoParameters parameters, ToolContext context) =>
            Task.FromResult(new Answer { Text = GetType().Name });
    }

    [McpTool(Description = "Fine", DisplayDevelopmentOnly = true)]
    public sealed class FixtureHTTPGoodTool : Answering
    {
    }

    [McpTool(Name = "ping")]
    public sealed class TakesABuiltInName : Answering
    {
    }

    [McpTool(Name = "fixture-twice")]
    public sealed class TwiceA : Answering
    {
    }

    [McpTool(Name = "fixture-twice")]
    public sealed class TwiceB : Answering
    {
    }

    [McpTool(Name = "Not Kebab")]
    public sealed class BadlyNamed : Answering
    {
    }

    [McpTool(Name = "get-tool-details")]
    public sealed class TakesAReservedName : Answering
    {
    }

    [McpTool]
    public abstract class AbstractOne : Answering
    {
    }

    [McpTool]
    public sealed class NoTool
    {
    }

    [McpTool]
    public sealed class ThrowsInConstructor : Answering
    {
        public ThrowsInConstructor() => throw new InvalidOperationException("no licence");
    }

    [McpTool]
    public sealed class WantsTooMuch : Answering
    {
        public WantsTooMuch(string text) => Text = text;

        public string Text { get; }
    }

    [McpTool]
    public sealed class HasNoSchema : AbstractUnityTool<SchemaTests.WithDate, Answer>
    {
        protected override Task<Answer> ExecuteAsync(SchemaTests.WithDate parameters, ToolContext context) =>
            throw new NotSupportedException();
    }

    [McpTool]
    public sealed class HasABrokenSchema : IUnityTool
    {
        public JObject InputSchema => throw new InvalidOperationException("schema file is missing");

        public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) => throw new NotSupportedException();
    }

    [McpTool]
    public sealed class HasAnArraySchema : IUnityTool
    {
        public JObject InputSchema => new() { ["type"] = "array" };

        public Task<object?> ExecuteAsync(JObject arguments, ToolContext context) => throw new NotSupportedException();
    }

    /// <summary>Not found by itself: it has no attribute.</summary>
    public sealed class Unmarked : Answering
    {
    }

    /// <summary>Registered manually in tests.</summary>
    public sealed class Manual : Answering
    {
    }
}
