#nullable disable
using System;
using JobBroker.EditorStubs;
using UnityEditor.Build.Reporting;
using UnityEngine;
using UnityEngine.SceneManagement;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    public enum BuildTargetGroup
    {
        Unknown = 0,
        Standalone = 1,
        Android = 7,
    }

    public enum BuildTarget
    {
        StandaloneWindows = 5,
        Android = 13,
        StandaloneLinux64 = 24,
    }

    [Flags]
    public enum BuildOptions
    {
        None = 0,
        Development = 1,
    }

    public struct BuildPlayerOptions
    {
        public string[] scenes { get; set; }

        public string locationPathName { get; set; }

        public BuildTarget target { get; set; }

        public BuildTargetGroup targetGroup { get; set; }

        public int subtarget { get; set; }

        public BuildOptions options { get; set; }
    }

    public partial class BuildPipeline
    {
        public static bool isBuildingPlayer => false;

        public static BuildTargetGroup GetBuildTargetGroup(BuildTarget platform) =>
            platform == BuildTarget.Android ? BuildTargetGroup.Android : BuildTargetGroup.Standalone;

        public static bool IsBuildTargetSupported(BuildTargetGroup buildTargetGroup, BuildTarget target) =>
            target != BuildTarget.StandaloneWindows;

        public static BuildReport BuildPlayer(BuildPlayerOptions buildPlayerOptions) => StubEditor.Build(buildPlayerOptions);

        public static BuildReport BuildPlayer(string[] levels, string locationPathName, BuildTarget target, BuildOptions options) =>
            BuildPlayer(new BuildPlayerOptions
            {
                scenes = levels,
                locationPathName = locationPathName,
                target = target,
                targetGroup = GetBuildTargetGroup(target),
                subtarget = StubProject.ActiveSubtarget,
                options = options,
            });
    }

    public class EditorUserBuildSettings : Object
    {
        public static BuildTarget activeBuildTarget => StubProject.ActiveTarget;

        public static bool buildAppBundle { get; set; }

        public static bool exportAsGoogleAndroidProject { get; set; }

        public static bool SwitchActiveBuildTarget(BuildTargetGroup targetGroup, BuildTarget target)
        {
            if (StubProject.RefusesSwitches) return false;
            StubProject.ActiveTarget = target;
            return true;
        }
    }

    public class EditorBuildSettingsScene
    {
        public bool enabled { get; set; }

        public string path { get; set; }
    }

    public class EditorBuildSettings : Object
    {
        public static EditorBuildSettingsScene[] scenes { get; set; } =
        {
            new EditorBuildSettingsScene { enabled = true, path = "Assets/Main.unity" },
            new EditorBuildSettingsScene { enabled = false, path = "Assets/Old.unity" },
        };
    }
}

namespace UnityEditor.Build
{
    public interface IOrderedCallback
    {
        int callbackOrder { get; }
    }

    public interface IPreprocessBuildWithReport : IOrderedCallback
    {
        void OnPreprocessBuild(BuildReport report);
    }

    public interface IPostprocessBuildWithReport : IOrderedCallback
    {
        void OnPostprocessBuild(BuildReport report);
    }

    public interface IProcessSceneWithReport : IOrderedCallback
    {
        void OnProcessScene(Scene scene, BuildReport report);
    }

    public interface IPostBuildPlayerScriptDLLs : IOrderedCallback
    {
        void OnPostBuildPlayerScriptDLLs(BuildReport report);
    }
}

namespace UnityEditor.Build.Reporting
{
    public enum BuildResult
    {
        Unknown = 0,
        Succeeded = 1,
        Failed = 2,
        Cancelled = 3,
    }

    public struct BuildStepMessage
    {
        public LogType type { get; internal set; }

        public string content { get; internal set; }
    }

    public struct BuildStep
    {
        public BuildStepMessage[] messages { get; internal set; }
    }

    public struct BuildSummary
    {
        public BuildResult result { get; internal set; }

        public string outputPath { get; internal set; }

        public ulong totalSize { get; internal set; }

        public TimeSpan totalTime { get; internal set; }

        public int totalErrors { get; internal set; }

        public int totalWarnings { get; internal set; }
    }

    public sealed class BuildReport : Object
    {
        public BuildSummary summary { get; internal set; }

        public BuildStep[] steps { get; internal set; }

        internal BuildFile[] built = Array.Empty<BuildFile>();

#if UNITY_2022_3_OR_NEWER
        public BuildFile[] GetFiles() => built;
#else
        public BuildFile[] files => built;
#endif
    }

    public struct BuildFile
    {
        public string path { get; internal set; }

        public string role { get; internal set; }

        public ulong size { get; internal set; }
    }
}
