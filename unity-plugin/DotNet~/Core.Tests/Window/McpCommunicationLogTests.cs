#nullable enable
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Window;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Window;

public sealed class McpCommunicationLogTests
{
    private readonly FixedClock clock = new();

    [Fact]
    public void Keeps_the_newest_and_no_more()
    {
        var log = new McpCommunicationLog(clock, capacity: 3);
        for (var index = 1; index <= 5; index++) log.Add(CommunicationKind.Request, "ada", "method" + index, null);

        Assert.Equal(["method3", "method4", "method5"], log.Entries().Select(entry => entry.Method));
        Assert.Equal(5, log.Last);
    }

    [Theory]
    [InlineData("""{"token":"hush-hush"}""")]
    [InlineData("""{"Token":"hush-hush"}""")]
    [InlineData("""{"a":[{"access_token":"hush-hush"}]}""")]
    [InlineData("""{"ownerNonce":"hush-hush"}""")]
    [InlineData("""{"proof":"hush-hush"}""")]
    [InlineData("""{"PushNotificationKey":"hush-hush"}""")]
    [InlineData("""{"key":"hush-hush"}""")]
    [InlineData("""{"headers":{"Authorization":"hush-hush"}}""")]
    [InlineData("""{"api-key":{"deep":"hush-hush"}}""")]
    [InlineData("""{"text":"curl -H 'Authorization: Bearer hush-hush'"}""")]
    public void Shows_no_secrets(string body)
    {
        var log = new McpCommunicationLog(clock);
        log.Add(CommunicationKind.Request, "ada", "bridge/hello", JObject.Parse(body));
        var text = Assert.Single(log.Entries()).Text;
        Assert.DoesNotContain("hush", text);
        Assert.Contains("***", text);
    }

    [Fact]
    public void Shows_what_is_no_secret_as_it_is()
    {
        const string body = """{"tool":"compile","count":3,"list":[true,null,1.5],"token":null}""";
        var log = new McpCommunicationLog(clock);
        log.Add(CommunicationKind.Result, "ada", "x", JObject.Parse(body));
        Assert.Equal(body, Assert.Single(log.Entries()).Text);
    }

    [Fact]
    public void Shows_a_string_that_is_null_as_null()
    {
        var log = new McpCommunicationLog(clock);
        log.Add(CommunicationKind.Result, "ada", "operation/list", new JObject { ["after"] = (string?)null });
        Assert.Equal("""{"after":null}""", Assert.Single(log.Entries()).Text);
    }

    [Fact]
    public void Cuts_what_is_long_without_writing_it_all()
    {
        var log = new McpCommunicationLog(clock, textLimit: 100);
        var many = new JArray(Enumerable.Range(0, 200_000));
        log.Add(CommunicationKind.Result, "ada", "many", many);
        log.Add(CommunicationKind.Result, "ada", "wide", new JObject { ["text"] = new string('x', 20_000_000) });

        Assert.All(log.Entries(), entry => Assert.Equal(101, entry.Text.Length));
        Assert.All(log.Entries(), entry => Assert.EndsWith("…", entry.Text));
    }

    [Fact]
    public void A_secret_across_the_cut_is_gone_too()
    {
        for (var padding = 0; padding < 60; padding++)
        {
            var log = new McpCommunicationLog(clock, textLimit: 50);
            log.Add(CommunicationKind.Request, "ada", "x", new JValue(new string('x', padding) + " Bearer hush-hush-hush-hush"));
            Assert.DoesNotContain("hush", Assert.Single(log.Entries()).Text);
        }
    }

    [Fact]
    public void The_newest_outlive_a_domain_reload()
    {
        var before = new McpCommunicationLog(clock);
        for (var index = 1; index <= 80; index++) before.Add(CommunicationKind.Error, "ada", "m" + index, new JValue(index));

        var after = new McpCommunicationLog(clock);
        after.Restore(before.Save());
        after.Add(CommunicationKind.Request, "ada", "new", null);

        Assert.Equal(51, after.Entries().Count);
        Assert.Equal(["m31", "m80", "new"], new[] { 0, 49, 50 }.Select(at => after.Entries()[at].Method));
        Assert.Equal(81, after.Last);
    }

    [Theory]
    [InlineData(null)]
    [InlineData("")]
    [InlineData("nonsense")]
    [InlineData("[1]")]
    [InlineData("[[1,2]]")]
    [InlineData("[[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\"]]")]
    public void What_another_version_left_changes_nothing(string? saved)
    {
        var log = new McpCommunicationLog(clock);
        log.Restore(saved);
        Assert.Empty(log.Entries());
    }

    [Fact]
    public void Counts_right_from_many_threads()
    {
        var log = new McpCommunicationLog(clock, capacity: 100_000);
        Parallel.For(0, 20_000, index => log.Add(CommunicationKind.Request, "ada", "m", new JValue(index)));
        Assert.Equal(20_000, log.Last);
        Assert.Equal(Enumerable.Range(1, 20_000).Select(number => (long)number), log.Entries().Select(entry => entry.Number));
    }
}
