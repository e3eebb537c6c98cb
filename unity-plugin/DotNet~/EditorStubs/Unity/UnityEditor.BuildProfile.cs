#nullable disable
#if UNITY_6000_0_OR_NEWER
using JobBroker.EditorStubs;
using UnityEditor.Build.Profile;
using UnityEditor.Build.Reporting;
using UnityEngine;

namespace UnityEditor
{
    public struct BuildPlayerWithProfileOptions
    {
        public BuildProfile buildProfile { get; set; }

        public string locationPathName { get; set; }

        public BuildOptions options { get; set; }
    }

    public partial class BuildPipeline
    {
        /// <summary>Makes the profile the active one, and builds for the platform that the Editor is on.</summary>
        public static BuildReport BuildPlayer(BuildPlayerWithProfileOptions buildPlayerWithProfileOptions)
        {
            StubProject.ActiveProfile = buildPlayerWithProfileOptions.buildProfile.name;
            return BuildPlayer(new BuildPlayerOptions
            {
                scenes = new[] { "Assets/OfProfile.unity" },
                locationPathName = buildPlayerWithProfileOptions.locationPathName,
                target = StubProject.ActiveTarget,
                options = buildPlayerWithProfileOptions.options,
            });
        }
    }
}

namespace UnityEditor.Build.Profile
{
    public sealed class BuildProfile : ScriptableObject
    {
        /// <summary>Here its name says it.</summary>
        internal BuildTarget buildTarget =>
            name.Contains("Windows") ? BuildTarget.StandaloneWindows : BuildTarget.Android;

        public static BuildProfile GetActiveBuildProfile() => StubProject.ActiveProfile == null
            ? null
            : new BuildProfile { name = StubProject.ActiveProfile };

        /// <summary>Does not say whether the Editor could switch to its platform.</summary>
        public static void SetActiveBuildProfile(BuildProfile buildProfile)
        {
            StubProject.ActiveProfile = buildProfile == null ? null : buildProfile.name;
            if (buildProfile == null || buildProfile.buildTarget == BuildTarget.StandaloneWindows) return;
            StubProject.ActiveTarget = buildProfile.buildTarget;
        }
    }
}
#endif
