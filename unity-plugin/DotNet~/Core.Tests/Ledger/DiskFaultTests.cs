using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Runtime.Versioning;
using JobBroker.Bridge.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>A disk that takes no more, and folders that may not be written: nothing runs unconfirmed.</summary>
public sealed class DiskFaultTests
{
    [UnixFact]
    public void A_file_that_may_not_grow_refuses_instead_of_running()
    {
        using var folder = new TestFolder();

        // The signal ignored, a write beyond the limit fails like one on a full disk (EFBIG).
        var script = $"trap '' XFSZ; ulimit -f 64; exec \"{TestRuntime.Program}\" \"$@\"";
        using var child = ChildProcess.Start(
            "/bin/sh", new[] { "-c", script, "sh", ChildProcess.Assembly, "ledger-fill", folder.Path });
        var lines = child.Rest();
        Assert.True(lines.LastOrDefault() == "done", string.Join("\n", lines) + child.Errors());
        ExpectRefused(lines);

        using var ledger = OperationLedger.Open(new LedgerOptions(folder.Path), new ManualClock());
        ExpectJournalled(ledger, lines);
        ledger.Begun("there is room again");
    }

    [TmpfsFact]
    public void A_full_disk_refuses_instead_of_running_and_the_ledger_goes_on_by_itself_once_there_is_room()
    {
        using var folder = new TestFolder();
        var script = $"""
            mount -t tmpfs -o size=256k none "$1" && head -c 160000 /dev/zero > "$1/ballast" &&
            "{TestRuntime.Program}" "{ChildProcess.Assembly}" ledger-fill "$1/ledger" "$1/ballast" &&
            cp -r "$1/ledger" "$2"
            """;
        var kept = Path.Combine(folder.Path, "kept");
        var mount = Directory.CreateDirectory(Path.Combine(folder.Path, "mount")).FullName;
        using var child = ChildProcess.Start("unshare", new[] { "-Urm", "/bin/sh", "-c", script, "sh", mount, kept });
        var lines = child.Rest();
        Assert.True(lines.LastOrDefault() == "done", string.Join("\n", lines) + child.Errors());
        Assert.Contains(lines, line => line.StartsWith("refused") && line.Contains(TestRuntime.DiskFull));
        ExpectRefused(lines);
        Assert.Equal(new[] { "more 0", "more 20" }, lines.Where(line => line.StartsWith("more")));

        using var ledger = OperationLedger.Open(new LedgerOptions(kept), new ManualClock());
        ExpectJournalled(ledger, lines);
    }

    [UnixFact]
    [UnsupportedOSPlatform("windows")]
    public void A_folder_that_may_not_be_written_is_refused_with_what_to_do()
    {
        using var folder = new TestFolder();
        OperationLedger.Open(new LedgerOptions(folder.Path), new ManualClock()).Dispose();
        var before = File.ReadAllBytes(folder.Journal);
        foreach (var file in Directory.GetFiles(folder.Path))
        {
            File.SetUnixFileMode(file, UnixFileMode.UserRead | UnixFileMode.GroupRead | UnixFileMode.OtherRead);
        }

        File.SetUnixFileMode(folder.Path, (UnixFileMode)0b101_101_101);
        try
        {
            ExpectUnavailable(folder.Path);
            ExpectUnavailable(Path.Combine(folder.Path, "below"));
        }
        finally
        {
            File.SetUnixFileMode(folder.Path, (UnixFileMode)0b111_101_101);
        }

        Assert.Equal(before, File.ReadAllBytes(folder.Journal));
    }

    [Fact]
    public void A_file_in_the_folders_place_is_refused()
    {
        using var folder = new TestFolder();
        var file = Path.Combine(folder.Path, "file");
        File.WriteAllText(file, "");
        var refused = Assert.Throws<LedgerUnavailableException>(
            () => OperationLedger.Open(new LedgerOptions(file), new ManualClock()));
        Assert.Contains(file, refused.Message);
    }

    /// <summary>Root may write everywhere, so it asks as nobody.</summary>
    private static void ExpectUnavailable(string folder)
    {
        var root = Environment.UserName == "root";
        using var child = root
            ? ChildProcess.Start(
                "setpriv",
                new[]
                {
                    "--reuid=65534", "--regid=65534", "--clear-groups",
                    TestRuntime.Program, ChildProcess.Assembly, "ledger-open", folder,
                })
            : ChildProcess.Start("ledger-open", folder);
        var lines = string.Join("\n", child.Rest());
        Assert.True(lines.StartsWith("unavailable"), lines + child.Errors());
        Assert.Contains(folder, lines);
        Assert.Contains("give this user the right to write there", lines);
    }

    private static void ExpectRefused(IReadOnlyList<string> lines)
    {
        Assert.Contains(lines, line => line.StartsWith("refused"));
        var completed = lines.Count(line => line.StartsWith("completed"));
        Assert.True(completed > 3, "the disk was full before anything could be done");
        Assert.Contains("readable " + completed, lines);
    }

    /// <summary>Whatever was invoked stands in the journal as begun.</summary>
    private static void ExpectJournalled(OperationLedger ledger, IReadOnlyList<string> lines)
    {
        foreach (var line in lines.Where(line => line.StartsWith("invoked") || line.StartsWith("completed")))
        {
            var words = line.Split(' ');
            var operation = ledger.Get(words[1]);
            Assert.NotNull(operation?.StartedAt);
            Assert.True(words[0] == "invoked" || operation!.State == LedgerState.Completed);
        }
    }

    private sealed class UnixFactAttribute : FactAttribute
    {
        public UnixFactAttribute()
        {
            if (OperatingSystem.IsWindows())
            {
                Skip = "Limits and rights are set with commands of Unix.";
            }
        }
    }

    private sealed class TmpfsFactAttribute : FactAttribute
    {
        public TmpfsFactAttribute()
        {
            if (!OperatingSystem.IsLinux() || !MayMount())
            {
                Skip = "This user may not mount a small file system (unshare -Urm); the limit of file sizes is tested.";
            }
        }

        private static bool MayMount()
        {
            try
            {
                using var probe = Process.Start(
                    new ProcessStartInfo("unshare", "-Urm mount -t tmpfs none /mnt") { RedirectStandardError = true })!;
                probe.WaitForExit();
                return probe.ExitCode == 0;
            }
            catch (System.ComponentModel.Win32Exception)
            {
                return false;
            }
        }
    }
}
