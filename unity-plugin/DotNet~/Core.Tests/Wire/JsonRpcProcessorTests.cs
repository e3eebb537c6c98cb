#nullable enable
using System;
using System.Threading.Tasks;
using FsCheck;
using FsCheck.Fluent;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Wire;

public sealed class JsonRpcProcessorTests
{
    private const string Start = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",";

    [Fact]
    public void What_is_written_is_read_back()
    {
        var request = JsonRpcProcessor.Parse(JsonRpcProcessor.Request(1, "m", new JObject { ["a"] = 1 }));
        Assert.Equal(RpcKind.Request, request.Kind);
        Assert.Equal("m", request.Method);
        Assert.Equal("{\"a\":1}", Text(request.Value));

        var notification = JsonRpcProcessor.Parse(JsonRpcProcessor.Notification("n", new JObject()));
        Assert.Equal(RpcKind.Notification, notification.Kind);
        Assert.Null(notification.Id);

        var result = JsonRpcProcessor.Parse(JsonRpcProcessor.Result(0, JValue.CreateNull()));
        Assert.Equal(RpcKind.Result, result.Kind);
        Assert.Equal(JTokenType.Null, result.Value!.Type);

        var fenced = new RpcError(-32011, "FENCED", new JObject { ["highestEpoch"] = 4 });
        var failure = JsonRpcProcessor.Parse(JsonRpcProcessor.Failure("x", fenced));
        Assert.Equal(RpcKind.Error, failure.Kind);
        Assert.Equal(-32011, failure.Error!.Code);
        Assert.Equal("{\"highestEpoch\":4}", Text(failure.Error.Data));
        Assert.Null(JsonRpcProcessor.Parse(JsonRpcProcessor.Failure(null, fenced)).Id);
    }

    [Theory]
    [InlineData(Start + "\"params\":{\"a\":[1,null,\"x\"]}}", "{\"a\":[1,null,\"x\"]}")]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", "null")]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", null)]
    [InlineData(" \r\n\t{ \"id\" : 1 , \"method\" : \"m\" , \"jsonrpc\" : \"2.0\" } \n", null)]
    [InlineData(Start + "\"params\":{\"a\":1,\"b\":2,\"a\":3}}", "{\"a\":3,\"b\":2}")]
    public void Parameters_come_as_they_are_and_of_a_name_twice_the_last_counts(string text, string? expected)
    {
        var request = JsonRpcProcessor.Parse(text);
        Assert.Equal(RpcKind.Request, request.Kind);
        Assert.Equal(expected, request.Value == null ? null : Text(request.Value));
    }

    [Theory]
    [InlineData("1")]
    [InlineData("0")]
    [InlineData("-7")]
    [InlineData("1.0")]
    [InlineData("1.50")]
    [InlineData("0.1000000000000000055511151")]
    [InlineData("9007199254740993")]
    [InlineData("12345678901234567890123")]
    [InlineData("\"1\"")]
    [InlineData("\"\"")]
    [InlineData("\"2024-01-02T03:04:05Z\"")]
    public void An_id_comes_back_exactly(string id)
    {
        var request = JsonRpcProcessor.Parse(
            "{\"jsonrpc\":\"2.0\",\"params\":{\"id\":0.5},\"id\":" + id + ",\"method\":\"m\"}");
        Assert.Equal(RpcKind.Request, request.Kind);
        var answer = JsonRpcProcessor.Result(request.Id!, new JObject());
        Assert.Equal("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"result\":{}}", answer);
    }

    [Theory]
    [InlineData("2024-01-02T03:04:05.678+09:00")]
    [InlineData("2024-01-02")]
    [InlineData("/Date(1700000000000)/")]
    public void A_text_that_looks_like_a_date_stays_a_text(string date)
    {
        var request = JsonRpcProcessor.Parse(
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[\"" + date + "\"]}");
        Assert.Equal(JTokenType.String, request.Value![0]!.Type);
        Assert.Equal(date, (string)request.Value[0]!);
    }

    [Theory]
    [InlineData("", "null", -32700)]
    [InlineData("{", "null", -32700)]
    [InlineData("nonsense", "null", -32700)]
    [InlineData("{} {}", "null", -32700)]
    [InlineData("\uFEFF{}", "null", -32700)]
    [InlineData("{'jsonrpc':'2.0','id':1,'method':'m'}", "null", -32700)]
    [InlineData("{jsonrpc:\"2.0\",id:1,method:\"m\"}", "null", -32700)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":1,/* */\"method\":\"m\"}", "null", -32700)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"} // end", "null", -32700)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[NaN]}", "null", -32700)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[undefined]}", "null", -32700)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[new Date(1)]}", "null", -32700)]
    [InlineData("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}]", "null", -32600)]
    [InlineData("[]", "null", -32600)]
    [InlineData("7", "null", -32600)]
    [InlineData("null", "null", -32600)]
    [InlineData("\"x\"", "null", -32600)]
    [InlineData("{\"id\":1,\"method\":\"m\"}", "1", -32600)]
    [InlineData("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", "1", -32600)]
    [InlineData("{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", "1", -32600)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", "null", -32600)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", "null", -32600)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", "null", -32600)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":3}", "3", -32600)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":7}", "3", -32600)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"result\":1}", "null", -32600)]
    [InlineData("{\"jsonrpc\":\"2.0\",\"id\":4,\"error\":\"no\"}", "4", -32600)]
    public void What_is_no_message_names_the_error_to_answer(string text, string id, int code)
    {
        var message = JsonRpcProcessor.Parse(text);
        Assert.Equal(RpcKind.Invalid, message.Kind);
        Assert.Equal(code, message.Error!.Code);
        var answer = JsonRpcProcessor.Failure(message.Id, message.Error);
        Assert.StartsWith("{\"jsonrpc\":\"2.0\",\"id\":" + id + ",\"error\":{\"code\":" + code, answer);
    }

    [Theory]
    [InlineData(100, true)]
    [InlineData(127, true)]
    [InlineData(128, false)]
    [InlineData(1000, false)]
    public void Nesting_is_bounded_and_the_refusal_names_its_request(int levels, bool good)
    {
        var deep = new string('[', levels) + new string(']', levels);
        foreach (var text in new[]
        {
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"m\",\"params\":" + deep + "}",
            "{\"params\":" + deep + ",\"jsonrpc\":\"2.0\",\"method\":\"m\",\"id\":5}",
        })
        {
            var message = JsonRpcProcessor.Parse(text);
            Assert.Equal(good ? RpcKind.Request : RpcKind.Invalid, message.Kind);
            Assert.Equal(5, (int)message.Id!);
            if (!good) Assert.Equal(-32600, message.Error!.Code);
        }
    }

    [Fact]
    public void A_frame_full_of_brackets_is_read_no_further_than_its_depth()
    {
        // One that reads it all, at a cost that grows with its depth, would not end.
        var deep = new string('[', 1_000_000);
        for (var round = 0; round < 100; round++)
        {
            Assert.Equal(-32600, JsonRpcProcessor.Parse(deep).Error!.Code);
            var message = JsonRpcProcessor.Parse("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"m\",\"params\":" + deep);
            Assert.Equal((5, -32600), ((int)message.Id!, message.Error!.Code));
        }
    }

    [Fact]
    public void An_answer_may_be_given_by_several_threads_from_the_same_value()
    {
        var outcome = new JObject { ["status"] = "completed", ["result"] = new JObject { ["at"] = 1 } };
        Parallel.For(0, 1000, id =>
            Assert.EndsWith(",\"id\":" + id + ",\"result\":" + Text(outcome) + "}", JsonRpcProcessor.Result(id, outcome)));
        Assert.Null(outcome.Parent);
    }

    [Fact]
    public void No_text_makes_it_throw()
    {
        Prop.ForAll<string>(text => JsonRpcProcessor.Parse(text ?? "") != null).QuickCheckThrowOnFailure();
        var pieces = "{ } [ ] : , \"id\" \"jsonrpc\" \"2.0\" 1 1e999 - . \"\\u \"method\" null tru / '".Split(' ');
        var random = new Random(5);
        for (var round = 0; round < 50_000; round++)
        {
            var text = string.Concat(random.GetItems(pieces, random.Next(1, 12)));
            Assert.NotNull(JsonRpcProcessor.Parse(text));
        }
    }

    private static string Text(JToken? token) => token!.ToString(Newtonsoft.Json.Formatting.None);
}
