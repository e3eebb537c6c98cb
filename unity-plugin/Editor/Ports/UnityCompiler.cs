#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Code;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using UnityEditor;
using UnityEditor.Compilation;
using CompilerMessage = JobBroker.Bridge.Ports.CompilerMessage;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Script compilation: Unity's events go into a <see cref="CompileMonitor"/>. Main thread only.</summary>
    internal sealed class UnityCompiler : ICompiler, IDisposable
    {
        /// <summary>So many of the Console's newest entries are looked through.</summary>
        private const int MostEntries = 5000;

        /// <summary>Preferences > General > Script Changes While Playing, and its value Recompile After Finished Playing.</summary>
        private const string WhilePlaying = "ScriptCompilationDuringPlay";
        private const int AfterPlaying = 1;

        private readonly CompileMonitor monitor;

        public UnityCompiler(IClock clock)
        {
            monitor = new CompileMonitor(clock);
            CompilationPipeline.compilationStarted += Started;
            CompilationPipeline.assemblyCompilationFinished += AssemblyFinished;
            CompilationPipeline.compilationFinished += Finished;
        }

        /// <summary>
        /// Whether Unity compiles now. Where changed scripts wait for the end of play mode it says that it does for as long as
        /// somebody plays: who waited for that would keep the lane from what ends play mode.
        /// </summary>
        internal static bool IsCompiling => EditorApplication.isCompiling && !WaitsForEndOfPlay;

        private static bool WaitsForEndOfPlay =>
            EditorApplication.isPlaying && EditorPrefs.GetInt(WhilePlaying, 0) == AfterPlaying;

        public Task<CompileOutcome> CompileAsync(bool force, CancellationToken cancellation)
        {
            if (WaitsForEndOfPlay)
            {
                throw new ToolException(
                    "editor_is_playing",
                    "This Editor compiles only after play mode (its preference Script Changes While Playing). Leave play mode "
                    + "(control-play-mode, Action: Exit), then call compile again.");
            }
            cancellation.ThrowIfCancellationRequested();
            var outcome = monitor.Begin();
            // Finds scripts that changed on the disk; without it an unfocused Editor would not see them.
            AssetDatabase.Refresh();
            CompilationPipeline.RequestScriptCompilation(
                force ? RequestScriptCompilationOptions.CleanBuildCache : RequestScriptCompilationOptions.None);
            return outcome;
        }

        public Task<CompileOutcome>? RefreshAsync()
        {
            AssetDatabase.Refresh();
            return PendingAsync();
        }

        /// <summary>
        /// Unity says at once that it compiles, also before it begins. In play mode it may wait for the player to leave it: nobody
        /// waits for that here.
        /// </summary>
        public Task<CompileOutcome>? PendingAsync() =>
            EditorApplication.isCompiling && !EditorApplication.isPlaying ? monitor.Begin() : null;

        /// <summary>Of a compilation before this script domain only the Console knows.</summary>
        public IReadOnlyList<CompilerMessage> Errors()
        {
            if (!EditorUtility.scriptCompilationFailed) return new CompilerMessage[0];
            if (monitor.Errors.Count > 0) return monitor.Errors;
            try
            {
                return CompilerOutput.Parse(string.Join("\n", ConsoleEntries.CompilerErrors(MostEntries)));
            }
            catch (Exception)
            {
                // This Editor's Console is another one.
                return new CompilerMessage[0];
            }
        }

        public void Tick() => monitor.Tick(IsCompiling || EditorApplication.isUpdating);

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
