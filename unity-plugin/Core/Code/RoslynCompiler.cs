#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Endpoint;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Code
{
    /// <summary>Compiles with csc in a process of its own, against given assemblies. Any thread.</summary>
    public sealed class RoslynCompiler : ICodeCompiler, IDisposable
    {
        private const int StopMs = 400;

        private readonly object gate = new object();
        private readonly HashSet<ChildProgram> running = new HashSet<ChildProgram>();
        private readonly Func<RoslynLocation?> locate;
        private readonly Func<IReadOnlyList<string>> references;
        private readonly IBridgeLog log;
        private bool closed;

        /// <param name="locate">Where the compiler is; null when it cannot be found. Any thread.</param>
        /// <param name="references">Paths of the assemblies that code may use. Any thread.</param>
        public RoslynCompiler(Func<RoslynLocation?> locate, Func<IReadOnlyList<string>> references, IBridgeLog log)
        {
            this.locate = locate;
            this.references = references;
            this.log = log;
        }

        /// <summary>
        /// Compiles and loads the code. Faults of the compiler itself are messages; the task is cancelled, and the
        /// compiler's process killed, with the token or when the bridge is closed.
        /// </summary>
        public async Task<CompiledCode> CompileAsync(string source, string assemblyName, CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            var location = locate();
            if (location == null) return Fault("This Editor's C# compiler (csc.dll in DotNetSdk or DotNetSdkRoslyn) was not found.");
            var folder = Path.Combine(Path.GetTempPath(), "jb-code-" + Guid.NewGuid().ToString("N"));
            try
            {
                PrivateFolder.Create(folder);
                return await CompileIn(folder, location, source, assemblyName, cancellation).ConfigureAwait(false);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException
                || error is System.ComponentModel.Win32Exception)
            {
                return Fault("The C# compiler could not be run: " + error.Message);
            }
            finally
            {
                Delete(folder);
            }
        }

        /// <summary>Kills what still compiles; nothing compiles afterwards.</summary>
        public void Dispose()
        {
            ChildProgram[] killed;
            lock (gate)
            {
                closed = true;
                killed = running.ToArray();
            }
            foreach (var process in killed) process.Kill();
            if (killed.Any(process => !process.Join(StopMs))) log.Warn("A thread that reads the C# compiler did not end in time.");
        }

        private async Task<CompiledCode> CompileIn(
            string folder,
            RoslynLocation location,
            string source,
            string assemblyName,
            CancellationToken cancellation)
        {
            var output = Path.Combine(folder, assemblyName + ".dll");
            var response = Path.Combine(folder, "code.rsp");
            var file = Path.Combine(folder, "code.cs");
            File.WriteAllText(file, source, new UTF8Encoding(false));
            File.WriteAllLines(response, Options(output, file), new UTF8Encoding(false));
            ChildProgram process;
            lock (gate)
            {
                if (closed) throw new OperationCanceledException("The bridge is closed.");
                // The compiler's server would stay behind as a process of its own: plain csc asks for none.
                var start = new ProcessStartInfo(location.Dotnet, $"exec \"{location.Compiler}\" -noconfig \"@{response}\"");
                process = ChildProgram.Start("csc", start, log);
                running.Add(process);
            }
            try
            {
                string compilerOutput;
                using (cancellation.Register(process.Kill)) compilerOutput = await process.Ended.ConfigureAwait(false);
                cancellation.ThrowIfCancellationRequested();
                lock (gate)
                {
                    if (closed) throw new OperationCanceledException("The bridge is closed.");
                }
                var messages = CompilerOutput.Parse(compilerOutput);
                if (File.Exists(output) && !messages.Any(message => message.IsError))
                {
                    return new CompiledCode(Assembly.Load(File.ReadAllBytes(output)), messages);
                }
                return messages.Any(message => message.IsError)
                    ? new CompiledCode(null, messages)
                    : Fault("The C# compiler ended without a result: " + compilerOutput.Trim());
            }
            finally
            {
                lock (gate) running.Remove(process);
                process.Dispose();
            }
        }

        private IEnumerable<string> Options(string output, string file) => new[]
        {
            "-nologo", "-target:library", "-nostdlib+", "-langversion:9.0", "-utf8output", "-optimize-", "-debug-", "-unsafe-",
            $"-out:\"{output}\"", $"\"{file}\"",
        }.Concat(references().Select(path => $"-r:\"{path}\""));

        private static CompiledCode Fault(string message) =>
            new CompiledCode(null, new[] { new CompilerMessage(true, message, "", 0, 0) });

        private void Delete(string folder)
        {
            try
            {
                if (Directory.Exists(folder)) Directory.Delete(folder, true);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                log.Info($"{folder} could not be removed: {error.Message}");
            }
        }
    }
}
