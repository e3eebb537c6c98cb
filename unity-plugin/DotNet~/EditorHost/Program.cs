using System.CommandLine;
using System.Runtime.InteropServices;
using System.Text.Json.Nodes;
using JobBroker.EditorHost;
using JobBroker.EditorHost.Native;

var stateFolder = Path.Combine(Environment.GetFolderPath(Environment.SpecialFolder.UserProfile), ".unity-job-broker");
var project = new Option<string>("--project") { DefaultValueFactory = _ => "/simulated/Simulated Project" };
var unityVersion = new Option<string>("--unity-version") { DefaultValueFactory = _ => "6000.0.30f1" };
var port = new Option<int?>("--port") { Description = "0 takes any; default: the first free one from 8700" };
var token = new Option<string?>("--token");
var editorId = new Option<string?>("--editor-id");
var state = new Option<string>("--state-folder") { DefaultValueFactory = _ => stateFolder };
var endpoints = new Option<string?>("--endpoint-folder");
var ledger = new Option<string?>("--ledger-folder");
var counter = new Option<string?>("--counter-file");
var timeScale = new Option<double>("--time-scale") { DefaultValueFactory = _ => 1 };
var heartbeat = new Option<int>("--heartbeat-ms") { DefaultValueFactory = _ => 1000 };
var progress = new Option<int>("--progress-interval-ms") { DefaultValueFactory = _ => 250 };
var maxFrame = new Option<int>("--max-frame-bytes") { DefaultValueFactory = _ => 1024 * 1024 };
var inline = new Option<int>("--inline-result-bytes") { DefaultValueFactory = _ => 1024 * 1024 };
var silence = new Option<int>("--foreign-silence-ms") { DefaultValueFactory = _ => 60_000 };
var forget = new Option<long>("--forget-after-ms") { DefaultValueFactory = _ => 24L * 3600 * 1000 };
var keep = new Option<int>("--keep-operations") { DefaultValueFactory = _ => 1000 };
var plain = new Option<bool>("--plain-surface")
{
    Description = "Every program and every user of this machine that reaches the port may run tools, without the token",
};
var labels = new Option<string?>("--labels") { Description = "Which pools it is in: labels between commas" };
var unityArguments = new Option<string?>("--unity-arguments")
{
    Description = "The command line that Unity would have, its words between spaces: -batchmode -brokerLabels gpu",
};
var stays = new Option<bool>("--stays") { Description = "Goes on, as an Editor does, where its bridge cannot start" };
var parked = new Option<bool>("--parked") { Description = "Its window is in the background: it updates only when it is woken" };
var stranger = new Option<int>("--stranger-ms") { DefaultValueFactory = _ => 2000 };

var command = new RootCommand("A Unity Editor without Unity: the bridge's real Core, obeying JSON lines on stdin")
{
    project, unityVersion, port, token, editorId, state, endpoints, ledger, counter, timeScale,
    heartbeat, progress, maxFrame, inline, silence, forget, keep, plain, labels, unityArguments, stays, parked, stranger,
};
command.SetAction(parsed =>
{
    var settings = new HostSettings
    {
        StateFolder = parsed.GetValue(state)!,
        EndpointFolder = parsed.GetValue(endpoints),
        LedgerFolder = parsed.GetValue(ledger),
        EditorId = parsed.GetValue(editorId),
        Token = parsed.GetValue(token),
        Port = parsed.GetValue(port),
        HeartbeatMs = parsed.GetValue(heartbeat),
        ProgressIntervalMs = parsed.GetValue(progress),
        MaxFrameBytes = parsed.GetValue(maxFrame),
        InlineResultBytes = parsed.GetValue(inline),
        ForeignSilenceMs = parsed.GetValue(silence),
        ForgetAfterMs = parsed.GetValue(forget),
        KeepOperations = parsed.GetValue(keep),
        PlainSurface = parsed.GetValue(plain),
        StrangerMs = parsed.GetValue(stranger),
    };
    var counterFile = parsed.GetValue(counter) ?? Path.Combine(settings.StateFolder, "executions.log");
    var native = new NativeEditor(
        parsed.GetValue(project)!, parsed.GetValue(unityVersion)!, new CounterFile(counterFile))
    {
        TimeScale = parsed.GetValue(timeScale),
        Labels = parsed.GetValue(labels),
        CommandLine = (parsed.GetValue(unityArguments) ?? "").Split(' ', StringSplitOptions.RemoveEmptyEntries),
    };
    native.Loop.Focused = !parsed.GetValue(parked);
    native.Loop.Parks = parsed.GetValue(parked);
    return Serve(new Host(native, settings), parsed.GetValue(stays));
});
return command.Parse(args).Invoke();

// Ends with its input, with SIGTERM or SIGINT, or by the command "quit".
static int Serve(Host host, bool stays)
{
    var control = new Control(host, Console.In, Console.Out);
    var failed = 0;
    using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Quit);
    using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Quit);
    host.Run(domain =>
    {
        if (!domain.IsListening && !stays)
        {
            Console.Error.WriteLine(domain.LastError);
            failed = 1;
            host.Quit();
            return;
        }
        control.Send(new JsonObject { ["ready"] = true, ["editorId"] = domain.EditorId, ["port"] = domain.Port });
        _ = Task.Run(async () =>
        {
            await control.Obey();
            host.Native.Loop.Command(host.Quit);
        });
    });
    return failed;

    void Quit(PosixSignalContext context)
    {
        context.Cancel = true;
        host.Native.Loop.Command(host.Quit);
    }
}
