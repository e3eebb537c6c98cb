#nullable enable
using System;
using System.ComponentModel;
using System.Diagnostics;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Config
{
    /// <summary>
    /// Puts the broker into MCP clients' files and takes it out again, by running the command line's <c>install</c> and
    /// <c>uninstall</c>; where that cannot be run, a person gets the configuration to paste. Any thread.
    /// </summary>
    public sealed class ClientInstaller : IDisposable
    {
        private const int LongestMs = 60_000;
        private const int StopMs = 400;
        private const int MostCharacters = 2000;

        private readonly object gate = new object();
        private readonly ConfigMachine machine;
        private readonly Action<string> copy;
        private readonly IBridgeLog log;
        private ChildProgram? running;
        private string note = "";
        private bool closed;

        /// <param name="copy">Puts text onto the clipboard; called on the thread that asks to install.</param>
        public ClientInstaller(ConfigMachine machine, Action<string> copy, IBridgeLog log)
        {
            this.machine = machine;
            this.copy = copy;
            this.log = log;
        }

        /// <summary>While it is, nothing more can be asked for.</summary>
        public bool IsBusy
        {
            get
            {
                lock (gate) return running != null;
            }
        }

        /// <summary>What became of the last wish, in the command line's own words; empty before the first.</summary>
        public string Note
        {
            get
            {
                lock (gate) return note;
            }
        }

        /// <summary>Returns at once; <see cref="Note"/> says what became of it.</summary>
        public void Install(McpClient client)
        {
            if (Run("install", client)) return;
            copy(client.Configuration(BrokerProgram.Noted(machine) ?? BrokerProgram.ByName));
            Say($"unity-broker was not found on this machine. The configuration for {client.Title} is on the clipboard: paste it "
                + "into the client's file.");
        }

        /// <summary>Returns at once; <see cref="Note"/> says what became of it.</summary>
        public void Remove(McpClient client)
        {
            if (Run("uninstall", client)) return;
            Say($"unity-broker was not found on this machine. Remove the server \"unity\" from {client.Title}'s file by hand.");
        }

        /// <summary>Ends a run; nothing runs afterwards.</summary>
        public void Dispose()
        {
            ChildProgram? killed;
            lock (gate)
            {
                closed = true;
                killed = running;
            }
            if (killed == null) return;
            killed.Kill();
            if (!killed.Join(StopMs)) log.Warn("A thread that reads the command line's output did not end in time.");
        }

        /// <summary>False when there is nothing to run.</summary>
        private bool Run(string verb, McpClient client)
        {
            var broker = BrokerProgram.Find(machine);
            if (!(broker?.ArgumentsFor(verb, client.Id) is { } arguments)) return false;
            var start = new ProcessStartInfo(broker.Command, arguments);
            // The command line itself begins with a look for node.
            start.EnvironmentVariables["PATH"] = string.Join(System.IO.Path.PathSeparator.ToString(), machine.Folders);
            ChildProgram program;
            lock (gate)
            {
                if (closed || running != null) return true;
                try
                {
                    running = program = ChildProgram.Start("install", start, log);
                }
                catch (Win32Exception)
                {
                    return false;
                }
                note = $"unity-broker {verb} {client.Id} …";
            }
            _ = Follow(program);
            return true;
        }

        private async Task Follow(ChildProgram program)
        {
            var said = "";
            try
            {
                using (var limit = new CancellationTokenSource(LongestMs))
                using (limit.Token.Register(program.Kill)) said = (await program.Ended.ConfigureAwait(false)).Trim();
                var code = program.ExitCode(StopMs);
                if (said.Length == 0) said = code == 0 ? "Done." : "unity-broker ended without a word.";
                if (code != 0) said = "unity-broker failed: " + said;
            }
            finally
            {
                program.Dispose();
                lock (gate)
                {
                    running = null;
                    note = said.Length > MostCharacters ? said.Substring(0, MostCharacters) + "…" : said;
                }
            }
        }

        private void Say(string text)
        {
            lock (gate) note = text;
        }
    }
}
