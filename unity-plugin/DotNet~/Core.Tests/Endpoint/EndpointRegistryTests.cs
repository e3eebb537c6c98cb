#nullable enable
using System;
using System.IO;
using System.Linq;
using System.Runtime.Versioning;
using System.Threading;
using JobBroker.Bridge.Endpoint;
using JobBroker.Bridge.Tests.Ledger;
using JobBroker.Bridge.Tests.Wire;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Endpoint;

[UnsupportedOSPlatform("windows")]
public sealed class EndpointRegistryTests : IDisposable
{
    private const UnixFileMode OwnFile = UnixFileMode.UserRead | UnixFileMode.UserWrite;
    private const UnixFileMode OwnFolder = OwnFile | UnixFileMode.UserExecute;

    private readonly string home = Directory.CreateTempSubdirectory("endpoint-é-").FullName;
    private readonly WireLog log = new();
    private readonly string project;
    private readonly string editors;
    private readonly EditorIdentity identity;

    public EndpointRegistryTests()
    {
        project = Directory.CreateDirectory(Path.Combine(home, "My Game")).FullName;
        editors = Path.Combine(home, "state", "editors");
        identity = EditorIdentity.Of(project, "machine");
    }

    public void Dispose() => Directory.Delete(home, true);

    private EndpointRegistry Registry() => new(editors, identity, log);

    private static EndpointRecord Record(
        string token, int pid = 4711, string phase = "ready", long startedAt = 1_700_000_000_000) =>
        new(pid, startedAt, 8701, token, "2022.3.10f1", phase);

    [Fact]
    public void Both_files_say_how_to_reach_this_Editor_to_its_user_alone_and_one_of_them_the_token()
    {
        var registry = Registry();
        Assert.True(registry.Write(Record("secret")));
        var library = Path.Combine(project, "Library", "JobBroker");
        Assert.Equal(
            [Path.Combine(editors, identity.EditorId + ".json"), Path.Combine(library, "endpoint.json")], registry.Files);
        foreach (var file in registry.Files)
        {
            Assert.Equal(OwnFile, File.GetUnixFileMode(file));
            var content = JObject.Parse(File.ReadAllText(file));
            Assert.Equal(
                "{\"editorId\":\"" + identity.EditorId + "\",\"projectName\":\"My Game\",\"projectPath\":\"" + project
                + "\",\"unityVersion\":\"2022.3.10f1\",\"pid\":4711,\"pidStartedAt\":1700000000000,"
                + "\"host\":\"127.0.0.1\",\"port\":8701," + (file == registry.Files[0] ? "\"token\":\"secret\"," : "")
                + "\"phase\":\"ready\"}",
                content.ToString(Newtonsoft.Json.Formatting.None));
            Assert.Single(Directory.GetFiles(Path.GetDirectoryName(file)!));
        }
        foreach (var folder in new[] { editors, Path.Combine(home, "state"), library })
        {
            Assert.Equal(OwnFolder, File.GetUnixFileMode(folder));
        }
        registry.Remove();
        Assert.All(registry.Files, file => Assert.False(File.Exists(file)));
        registry.Remove();
        Assert.Empty(log.Lines);
    }

    [Fact]
    public void The_token_is_never_readable_for_others_not_even_while_it_is_written()
    {
        var registry = Registry();
        registry.Write(Record("first"));
        // An older version, a restored backup and a crash between two steps may have left these.
        File.SetUnixFileMode(registry.Files[0], OwnFile | UnixFileMode.OtherRead);
        File.WriteAllText(registry.Files[0] + ".tmp", "left by a crash");
        File.SetUnixFileMode(registry.Files[0] + ".tmp", OwnFile | UnixFileMode.OtherRead | UnixFileMode.GroupRead);
        using var stop = new ManualResetEventSlim();
        var open = 0;
        registry.Write(Record("second"));
        var watching = new Thread(() =>
        {
            while (!stop.IsSet)
            {
                foreach (var file in Directory.GetFiles(editors))
                {
                    try
                    {
                        if (File.GetUnixFileMode(file) != OwnFile) Interlocked.Increment(ref open);
                    }
                    catch (IOException)
                    {
                        // Renamed meanwhile.
                    }
                }
            }
        });
        watching.Start();
        for (var round = 0; round < 500; round++) registry.Write(Record("token" + round));
        stop.Set();
        watching.Join();
        Assert.Equal(0, open);
        Assert.Equal(OwnFile, File.GetUnixFileMode(registry.Files[0]));
    }

    [Fact]
    public void A_reader_sees_a_whole_file_at_every_moment()
    {
        var registry = Registry();
        registry.Write(Record("token"));
        using var stop = new ManualResetEventSlim();
        var reads = 0;
        Exception? broken = null;
        var reading = new Thread(() =>
        {
            try
            {
                while (!stop.IsSet || reads < 100)
                {
                    var content = JObject.Parse(File.ReadAllText(registry.Files[0]));
                    if (content["phase"] == null) throw new InvalidOperationException("half a file");
                    reads++;
                }
            }
            catch (Exception error)
            {
                broken = error;
            }
        });
        reading.Start();
        for (var size = 1; size < 10_000; size += 10) registry.Write(Record("token", phase: new string('p', size)));
        stop.Set();
        reading.Join();
        Assert.Null(broken);
    }

    [Fact]
    public void Only_files_that_still_are_ours_are_removed()
    {
        var before = Registry();
        before.Write(Record("old", pid: 1));
        var now = Registry();
        now.Write(Record("new", pid: 2));
        before.Remove();
        Assert.All(now.Files, file => Assert.True(File.Exists(file)));

        var samePid = Registry();
        samePid.Write(Record("third", pid: 2, startedAt: 1_700_000_000_001));
        now.Remove();
        Assert.All(now.Files, file => Assert.True(File.Exists(file)));

        File.WriteAllText(samePid.Files[1], "half a fi");
        samePid.Remove();
        Assert.False(File.Exists(samePid.Files[0]));
        Assert.True(File.Exists(samePid.Files[1]));
        Registry().Remove();
        Assert.Empty(log.Lines);
    }

    [Fact]
    public void What_was_removed_and_what_the_disk_refused_is_written_again_with_the_next_heartbeat_and_said_once()
    {
        var registry = Registry();
        registry.Write(Record("old"));
        using var disk = new FaultyDisk(home) { Broken = true };
        Assert.False(registry.Write(Record("new")));
        registry.Restore();
        Assert.Equal(2, log.Lines.Count);
        Assert.All(log.Lines, line => Assert.Contains(FaultyDisk.Full, line));
        Assert.Equal("old", (string?)JObject.Parse(File.ReadAllText(registry.Files[0]))["token"]);
        disk.Broken = false;
        registry.Restore();
        Assert.Equal("new", (string?)JObject.Parse(File.ReadAllText(registry.Files[0]))["token"]);

        File.Delete(registry.Files[0]);
        Directory.Delete(Path.Combine(project, "Library"), true);
        registry.Restore();
        Assert.All(registry.Files, file => Assert.True(File.Exists(file)));
        registry.Remove();
        registry.Restore();
        Assert.All(registry.Files, file => Assert.False(File.Exists(file)));
        Assert.Equal(2, log.Lines.Count);
    }

    [Fact]
    public void A_file_that_another_process_wrote_is_left_alone()
    {
        var before = Registry();
        before.Write(Record("old", pid: 1));
        Registry().Write(Record("new", pid: 2));
        before.Restore();
        Assert.Equal("new", (string?)JObject.Parse(File.ReadAllText(before.Files[0]))["token"]);
    }

    [Fact]
    public void A_place_that_cannot_be_written_is_said_and_the_other_is_written()
    {
        File.WriteAllText(Path.Combine(project, "Library"), "a file, not a folder");
        var registry = Registry();
        Assert.True(registry.Write(Record("secret")));
        Assert.True(File.Exists(registry.Files[0]));
        Assert.Contains("Library", log.Lines.Single());
        Assert.DoesNotContain("secret", log.Lines.Single());
    }

    [Fact]
    public void Without_a_project_on_disk_there_is_one_file()
    {
        var nowhere = new EndpointRegistry(editors, EditorIdentity.Of("/nowhere/game", "machine"), log);
        Assert.Single(nowhere.Files);
        Assert.True(nowhere.Write(Record("t")));
        Assert.False(Directory.Exists("/nowhere"));
    }

    [Fact]
    public void Tokens_are_of_24_random_bytes()
    {
        var tokens = Enumerable.Range(0, 1000).Select(_ => EndpointRegistry.NewToken()).ToList();
        Assert.Equal(1000, tokens.Distinct().Count());
        Assert.All(tokens, token => Assert.Matches("^[A-Za-z0-9_-]{32}$", token));
    }
}
