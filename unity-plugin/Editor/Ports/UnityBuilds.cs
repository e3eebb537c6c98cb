#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEditor.Build.Reporting;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Player builds. Main thread only; only the report that BuildPlayer returns is believed.</summary>
    internal sealed class UnityBuilds : IBuildRunner
    {
        private const int MostMessages = 500;

        private const string NoReport =
            "Unity ended the build without a report; the Console (get-logs) says why.";

        private readonly Action isBuilding;

        /// <param name="isBuilding">Called before the main thread is blocked.</param>
        public UnityBuilds(Action isBuilding)
        {
            this.isBuilding = isBuilding;
        }

        public string ActiveTarget => EditorUserBuildSettings.activeBuildTarget.ToString();

        public string? PlayerExtension
        {
            get
            {
                if (EditorUserBuildSettings.activeBuildTarget != BuildTarget.Android) return null;
                if (EditorUserBuildSettings.exportAsGoogleAndroidProject) return "";
                return EditorUserBuildSettings.buildAppBundle ? ".aab" : null;
            }
        }

        public IReadOnlyList<string> SupportedTargets => Enum.GetValues(typeof(BuildTarget))
            .Cast<BuildTarget>()
            .Distinct()
            .Where(target => BuildPipeline.IsBuildTargetSupported(BuildPipeline.GetBuildTargetGroup(target), target))
            .Select(target => target.ToString())
            .ToList();

        public IReadOnlyList<string>? Profiles => BuildProfiles.Paths;

        public string? ActiveProfile => BuildProfiles.Active;

        public string? Switch(string target)
        {
            var wanted = (BuildTarget)Enum.Parse(typeof(BuildTarget), target, true);
            var left = BuildProfiles.Leave();
            if (EditorUserBuildSettings.SwitchActiveBuildTarget(BuildPipeline.GetBuildTargetGroup(wanted), wanted)) return null;
            if (left != null) BuildProfiles.Activate(left);
            return Application.isBatchMode
                ? "Unity does not switch in batch mode; start it with -buildTarget."
                : "Unity refused it; the Console (get-logs) says why.";
        }

        public string? SwitchToProfile(string path) => BuildProfiles.Activate(path);

        public BuildOutcome Build(BuildRequest request, Action<string, double> step)
        {
            isBuilding();
            var report = BuildStepSink.During(step, () => Run(request));
            // BuildPlayer catches some exceptions itself: it writes them to the Console and has no report.
            if (report == null) return new BuildOutcome(false, NoReport, request.OutputPath, 0, 0, 1, 0, new[] { NoReport });
            var summary = report.summary;
            return new BuildOutcome(
                summary.result == BuildResult.Succeeded,
                summary.result.ToString(),
                summary.outputPath,
                (long)summary.totalSize,
                summary.totalTime.TotalSeconds,
                summary.totalErrors,
                summary.totalWarnings,
                Messages(report),
                Files(report));
        }

        private static BuildReport Run(BuildRequest request)
        {
            var options = request.Development ? BuildOptions.Development : BuildOptions.None;
#if UNITY_6000_0_OR_NEWER
            if (request.Profile != null) return BuildProfiles.Build(request.Profile, request.OutputPath, options);
#endif
            var target = (BuildTarget)Enum.Parse(typeof(BuildTarget), request.Target, true);
            // This overload builds the subtarget that is active: options of our own would name the default one.
            return BuildPipeline.BuildPlayer(ScenesOf(request), request.OutputPath, target, options);
        }

        private static string[] ScenesOf(BuildRequest request) => request.Scenes.Count > 0
            ? request.Scenes.ToArray()
            : EditorBuildSettings.scenes.Where(scene => scene.enabled).Select(scene => scene.path).ToArray();

        private static IReadOnlyList<BuiltFile> Files(BuildReport report)
        {
#if UNITY_2022_3_OR_NEWER
            var files = report.GetFiles();
#else
            var files = report.files;
#endif
            return files.Select(file => new BuiltFile(file.path, (long)file.size, file.role)).ToList();
        }

        /// <summary>Errors before warnings.</summary>
        private static IReadOnlyList<string> Messages(BuildReport report) => report.steps
            .SelectMany(step => step.messages)
            .Where(message => message.type != LogType.Log)
            .OrderBy(message => message.type == LogType.Warning)
            .Select(message => message.type == LogType.Warning ? "Warning: " + message.content : message.content)
            .Take(MostMessages)
            .ToList();
    }
}
