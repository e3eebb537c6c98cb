#nullable enable
using System;
using System.Diagnostics;
using System.Text;
using System.Threading;
using System.Threading.Tasks;

namespace JobBroker.Bridge
{
    /// <summary>One run of a program: its two outputs are read on threads that end with the process. Any thread.</summary>
    internal sealed class ChildProgram : IDisposable
    {
        private readonly Process process;
        private readonly TaskCompletionSource<string> ended =
            new TaskCompletionSource<string>(TaskCreationOptions.RunContinuationsAsynchronously);

        private readonly string[] outputs = { "", "" };
        private readonly BridgeThread[] readers = new BridgeThread[2];
        private int reading = 2;

        private ChildProgram(Process process)
        {
            this.process = process;
        }

        /// <summary>What the process wrote, once it has ended, however it did.</summary>
        public Task<string> Ended => ended.Task;

        /// <summary>Throws Win32Exception when the program cannot be started.</summary>
        /// <param name="name">Of its threads; short.</param>
        /// <param name="start">Its streams are set here.</param>
        public static ChildProgram Start(string name, ProcessStartInfo start, IBridgeLog log)
        {
            start.UseShellExecute = false;
            start.CreateNoWindow = true;
            start.RedirectStandardOutput = true;
            start.RedirectStandardError = true;
            start.StandardOutputEncoding = Encoding.UTF8;
            start.StandardErrorEncoding = Encoding.UTF8;
            var one = new ChildProgram(Process.Start(start)!);
            one.Read(name + "-out", 0, one.process.StandardOutput.ReadToEnd, log);
            one.Read(name + "-err", 1, one.process.StandardError.ReadToEnd, log);
            return one;
        }

        /// <summary>Once its outputs have ended; null when it still runs after that time.</summary>
        public int? ExitCode(int milliseconds) => process.WaitForExit(milliseconds) ? process.ExitCode : (int?)null;

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
            error => log.Warn("A program's output could not be read: " + error.Message));
    }
}
