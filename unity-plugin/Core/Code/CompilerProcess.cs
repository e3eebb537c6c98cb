#nullable enable
using System;
using System.Diagnostics;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge.Code
{
    /// <summary>One run of csc: its two outputs are read on threads that end with the process. Any thread.</summary>
    internal sealed class CompilerProcess : IDisposable
    {
        private readonly Process process;
        private readonly TaskCompletionSource<string> ended =
            new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);

        private readonly string[] outputs = { "", "" };
        private readonly BridgeThread[] readers = new BridgeThread[2];
        private int reading = 2;

        private CompilerProcess(Process process)
        {
            this.process = process;
        }

        /// <summary>What the process wrote, once it has ended, however it did.</summary>
        public Task<string> Ended => ended.Task;

        /// <summary>Throws Win32Exception when the program cannot be started.</summary>
        public static CompilerProcess Start(RoslynLocation location, string response, IBridgeLog log)
        {
            // The compiler's server would stay behind as a process of its own: plain csc asks for none.
            var start = new ProcessStartInfo(location.Dotnet, $"exec \"{location.Compiler}\" -noconfig \"@{response}\"")
            {
                UseShellExecute = false,
                CreateNoWindow = true,
                RedirectStandardOutput = true,
                RedirectStandardError = true,
                StandardOutputEncoding = Encoding.UTF8,
                StandardErrorEncoding = Encoding.UTF8,
            };
            var one = new CompilerProcess(Process.Start(start)!);
            one.Read("csc-out", 0, one.process.StandardOutput.ReadToEnd, log);
            one.Read("csc-err", 1, one.process.StandardError.ReadToEnd, log);
            return one;
        }

        /// <summary>Ends the process; nothing happens when it has ended.</summary>
        public void Kill()
        {
            try
            {
                if (!process.HasExited) process.Kill();
            }
            catch (Exception error) when (error is InvalidOperationException || error is System.ComponentModel.Win32Exception)
            {
                // It ended in between.
            }
        }

        public void Dispose() => process.Dispose();

        /// <summary>Waits for the reading threads; false when one did not end in time.</summary>
        public bool Join(int milliseconds) => readers[0].Join(milliseconds) && readers[1].Join(milliseconds);

        private void Read(string name, int output, Func<string> readToEnd, IBridgeLog log) => readers[output] = BridgeThread.Start(
            name,
            () =>
            {
                try
                {
                    outputs[output] = readToEnd();
                }
                finally
                {
                    if (Interlocked.Decrement(ref reading) == 0) ended.TrySetResult(outputs[0] + outputs[1]);
                }
            },
            error => log.Warn("The C# compiler's output could not be read: " + error.Message));
    }
}
