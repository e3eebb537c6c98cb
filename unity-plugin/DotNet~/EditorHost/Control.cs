using System.Text.Json;
using System.Text.Json.Nodes;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost;

/// <summary>
/// The control channel: one JSON object a line in, one a line out, answered in order. The commands are those of the
/// simulator where they have a meaning here: <c>{"do":"reload","downMs":100}</c> → <c>{"ok":true,…}</c>.
/// </summary>
public sealed class Control(Host host, TextReader input, TextWriter output)
{
    private NativeEditor Native => host.Native;

    /// <summary>Obeys until the input ends or something quits.</summary>
    public async Task Obey()
    {
        while (await input.ReadLineAsync() is { } line)
        {
            if (line.Trim().Length == 0) continue;
            JsonObject answer;
            var quits = false;
            try
            {
                var command = JsonNode.Parse(line)!.AsObject();
                var what = command["do"]!.GetValue<string>();
                quits = what == "quit";
                answer = await Do(what, command);
                answer.Insert(0, "ok", true);
            }
            catch (Exception error) when (error is JsonException or InvalidOperationException or NullReferenceException)
            {
                answer = new JsonObject { ["ok"] = false, ["error"] = error.Message };
            }
            Send(answer);
            if (quits) return;
        }
    }

    public void Send(JsonObject line)
    {
        lock (output)
        {
            output.WriteLine(line.ToJsonString());
            output.Flush();
        }
    }

    private async Task<JsonObject> Do(string what, JsonObject command)
    {
        switch (what)
        {
            case "status":
                return Status();
            case "reload":
                var downMs = Number(command, "downMs", 50);
                var reloaded = await Native.Loop.On(() => host.Reload((int)downMs));
                reloaded["generation"] = Status()["generation"]?.DeepClone();
                return reloaded;
            case "crash":
                System.Diagnostics.Process.GetCurrentProcess().Kill();
                return [];
            case "stallMainThread":
                var ms = Number(command, "ms", 0);
                Native.Loop.Command(() => Thread.Sleep((int)ms));
                return [];
            case "unfocus":
                Native.Loop.Focused = !Flag(command, "unfocused", true);
                Native.Loop.Parks = Flag(command, "parked", false);
                return [];
            case "breakLedger":
                return await OnDomain(domain => domain.BreakLedger(Flag(command, "broken", true)));
            case "slowDisk":
                return await OnDomain(domain => domain.SlowDisk((int)Number(command, "ms", 0)));
            case "dropConnections":
                return await OnDomain(domain => domain.DropConnections());
            case "start":
                return await OnDomain(domain => domain.Start());
            case "handOver":
                return await OnDomain(domain => domain.HandOver());
            case "addTool":
                Native.ToolPackage = command["package"]?.GetValue<string>();
                return await OnDomain(domain => domain.AddTool(Text(command, "name"), Flag(command, "development", false)));
            case "removeTool":
                return await OnDomain(domain => domain.RemoveTool(Text(command, "name")));
            case "switch":
                Native.Switches[Text(command, "name")] = Flag(command, "on", true);
                return [];
            case "labels":
                Native.LabelsOfSettings = Text(command, "labels").Split(',');
                Native.Loop.SignalTick();
                return [];
            case "phase":
                Native.Phase = Text(command, "phase");
                Native.Loop.SignalTick();
                return [];
            case "log":
                Native.Write(command["type"]?.GetValue<string>() ?? "Log", Text(command, "message"));
                return [];
            case "edit":
                var failing = (int)Number(command, "failingTests", 0);
                return await Native.Loop.On(() =>
                {
                    Native.Project.EditedFailures = failing;
                    return new JsonObject();
                });
            case "script":
                ScriptChanges.Apply(Native.Script, command);
                return [];
            case "quit":
                await Native.Loop.On(() =>
                {
                    host.Quit();
                    return true;
                });
                return [];
            default:
                throw new InvalidOperationException($"There is no command {what}.");
        }
    }

    private JsonObject Status()
    {
        var domain = host.Domain;
        var status = domain == null ? [] : JsonNode.Parse(domain.Status())!.AsObject();
        status["alive"] = true;
        status["pid"] = Environment.ProcessId;
        status["nativeStallMs"] = Native.Loop.StallMs;
        status["updates"] = Native.Loop.Updates;
        status["executions"] = new JsonArray([.. Native.Counter.Lines().Select(ExecutionOf)]);
        return status;
    }

    private Task<JsonObject> OnDomain(Action<IScriptDomain> action) => Native.Loop.On(() =>
    {
        action(host.Domain!);
        return new JsonObject();
    });

    private static JsonNode? ExecutionOf(string line)
    {
        var first = line.IndexOf(' ');
        var last = line.LastIndexOf(' ');
        return new JsonObject
        {
            ["operationId"] = line[..first],
            ["what"] = line[(first + 1)..last],
            ["at"] = long.Parse(line[(last + 1)..]),
        };
    }

    private static string Text(JsonObject command, string name) =>
        command[name]?.GetValue<string>() ?? throw new InvalidOperationException($"{name} is missing.");

    private static double Number(JsonObject command, string name, double otherwise) =>
        command[name]?.GetValue<double>() ?? otherwise;

    private static bool Flag(JsonObject command, string name, bool otherwise) =>
        command[name]?.GetValue<bool>() ?? otherwise;
}
