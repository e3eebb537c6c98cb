#nullable enable
using UnityEditor.Build;
using UnityEditor.Build.Reporting;
using UnityEngine.SceneManagement;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Unity's callbacks during a build, as steps: first of all others where it begins, last where it ends.
    /// </summary>
    internal sealed class BuildHooks :
        IPreprocessBuildWithReport,
        IProcessSceneWithReport,
        IPostBuildPlayerScriptDLLs
    {
        public int callbackOrder => int.MinValue;

        public void OnPreprocessBuild(BuildReport report) => BuildStepSink.Report("The build begins", 0);

        /// <summary>Called when Play Mode is entered as well, and then without a report.</summary>
        public void OnProcessScene(Scene scene, BuildReport report)
        {
            if (report != null) BuildStepSink.Report("Scene " + scene.path);
        }

        public void OnPostBuildPlayerScriptDLLs(BuildReport report) => BuildStepSink.Report("The scripts are compiled");
    }

    /// <summary>The end of a build, after all other callbacks.</summary>
    internal sealed class BuildEndHook : IPostprocessBuildWithReport
    {
        public int callbackOrder => int.MaxValue;

        public void OnPostprocessBuild(BuildReport report) => BuildStepSink.Report("The player is written");
    }
}
