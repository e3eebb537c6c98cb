#nullable enable
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEditor.Compilation;
using CompilerMessage = JobBroker.Bridge.Ports.CompilerMessage;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Script compilation: Unity's events go into a <see cref="CompileMonitor"/>. Main thread only.</summary>
    internal sealed class UnityCompiler : ICompiler, IDisposable
    {
        private readonly CompileMonitor monitor;

        public UnityCompiler(IClock clock)
        {
            monitor = new CompileMonitor(clock);
            CompilationPipeline.compilationStarted += Started;
            CompilationPipeline.assemblyCompilationFinished += AssemblyFinished;
            CompilationPipeline.compilationFinished += Finished;
        }

        public Task<CompileOutcome> CompileAsync(bool force, CancellationToken cancellation)
        {
            cancellation.ThrowIfCancellationRequested();
            var outcome = monitor.Begin();
            // Finds scripts that changed on the disk; without it an unfocused Editor would not see them.
            AssetDatabase.Refresh();
            CompilationPipeline.RequestScriptCompilation(
                force ? RequestScriptCompilationOptions.CleanBuildCache : RequestScriptCompilationOptions.None);
            return outcome;
        }

        /// <summary>
        /// Unity says at once that it compiles, also before it begins. In play mode it may wait for the player to leave it: nobody
        /// waits for that here.
        /// </summary>
        public Task<CompileOutcome>? PendingAsync() =>
            EditorApplication.isCompiling && !EditorApplication.isPlaying ? monitor.Begin() : null;

        public void Tick() => monitor.Tick(EditorApplication.isCompiling || EditorApplication.isUpdating);

        public void Dispose()
        {
            CompilationPipeline.compilationStarted -= Started;
            CompilationPipeline.assemblyCompilationFinished -= AssemblyFinished;
            CompilationPipeline.compilationFinished -= Finished;
        }

        private void Started(object context) => monitor.Started();

        private void AssemblyFinished(string path, UnityEditor.Compilation.CompilerMessage[] messages) =>
            monitor.AssemblyFinished(messages.Select(Message));

        private void Finished(object context) => monitor.Finished();

        private static CompilerMessage Message(UnityEditor.Compilation.CompilerMessage message) => new CompilerMessage(
            message.type == CompilerMessageType.Error, message.message, message.file, message.line, message.column);
    }
}
