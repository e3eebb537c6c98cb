#nullable enable
using System;
using System.Collections.Generic;
using System.Diagnostics;
using System.IO;
using System.Threading;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Endpoint;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Window;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// What is known of this Editor: taken on the main thread with every tick, read from any. The asset counter and the phase
    /// are taken whenever the main thread reads them: a tool's own changes must be in its <c>endedIn</c>, and the next
    /// operation must not begin while Unity compiles because of it.
    /// </summary>
    internal sealed class UnityEditorInfo : IEditorInfo
    {
        private readonly IBridgeSettings settings;
        private readonly Func<bool> isTesting;
        private readonly int mainThread = Thread.CurrentThread.ManagedThreadId;
        private long assetCounter;
        private volatile bool focused;
        private volatile string phase = EditorPhase.Ready;
        private volatile IReadOnlyList<string> labels;
        private IReadOnlyList<string> labelsOfSettings;

        /// <summary>Takes what never changes. Main thread only.</summary>
        /// <param name="isTesting">Whether tests run, a person's own as well; called on the main thread.</param>
        public UnityEditorInfo(IBridgeSettings settings, Func<bool> isTesting)
        {
            this.settings = settings;
            this.isTesting = isTesting;
            var identity = EditorIdentity.Of(Path.GetDirectoryName(Application.dataPath)!, "");
            ProjectName = identity.ProjectName;
            ProjectPath = identity.ProjectPath;
            UnityVersion = Application.unityVersion;
            LogFile = string.IsNullOrEmpty(Application.consoleLogPath) ? null : Application.consoleLogPath;
            labelsOfSettings = settings.Current.Labels;
            labels = LabelsNow();
            using (var process = Process.GetCurrentProcess())
            {
                ProcessId = process.Id;
                ProcessStartedAtMs = new DateTimeOffset(process.StartTime.ToUniversalTime()).ToUnixTimeMilliseconds();
            }
        }

        public string ProjectName { get; }

        public string ProjectPath { get; }

        public string UnityVersion { get; }

        public int ProcessId { get; }

        public long ProcessStartedAtMs { get; }

        public string? LogFile { get; }

        /// <summary>A change of the build target reloads the domain, and this is made again.</summary>
        public IReadOnlyList<string> Labels => labels;

        public long AssetCounter
        {
            get
            {
                if (Thread.CurrentThread.ManagedThreadId == mainThread)
                {
                    Interlocked.Exchange(ref assetCounter, AssetChanges.Count);
                }
                return Interlocked.Read(ref assetCounter);
            }
        }

        public bool Focused => focused;

        public string Phase
        {
            get
            {
                if (Thread.CurrentThread.ManagedThreadId == mainThread) phase = PhaseNow();
                return phase;
            }
        }

        /// <summary>Takes what changes. Main thread only.</summary>
        public void Refresh()
        {
            if (settings.Current.Labels != labelsOfSettings)
            {
                labelsOfSettings = settings.Current.Labels;
                labels = LabelsNow();
            }
            Interlocked.Exchange(ref assetCounter, AssetChanges.Count);
#if UNITY_2022_3_OR_NEWER
            focused = EditorApplication.isFocused;
#else
            focused = UnityEditorInternal.InternalEditorUtility.isApplicationActive;
#endif
            phase = PhaseNow();
        }

        /// <summary>A build begins: it blocks the main thread, and nothing is taken until it ends.</summary>
        public void Building() => phase = EditorPhase.Of(true, false, false, false, false, false, false);

        private string PhaseNow() => EditorPhase.Of(
            BuildPipeline.isBuildingPlayer,
            UnityCompiler.IsCompiling,
            EditorApplication.isUpdating,
            EditorApplication.isPlayingOrWillChangePlaymode != EditorApplication.isPlaying,
            isTesting(),
            EditorApplication.isPlaying,
            EditorUtility.scriptCompilationFailed);

        private IReadOnlyList<string> LabelsNow() => EditorLabels.Of(
            Environment.GetEnvironmentVariable(EditorLabels.Variable),
            Environment.GetCommandLineArgs(),
            labelsOfSettings,
            Application.isBatchMode,
            EditorUserBuildSettings.activeBuildTarget.ToString());
    }
}
