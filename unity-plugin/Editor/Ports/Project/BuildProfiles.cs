#nullable enable
using System.Collections.Generic;
#if UNITY_6000_0_OR_NEWER
using System.Linq;
using System.Reflection;
using UnityEditor;
using UnityEditor.Build.Profile;
using UnityEditor.Build.Reporting;
#endif

namespace JobBroker.Bridge.Unity
{
    /// <summary>Unity 6's build profiles; none before. Main thread only.</summary>
    internal static class BuildProfiles
    {
#if UNITY_6000_0_OR_NEWER
        private const BindingFlags Any = BindingFlags.Instance | BindingFlags.Public | BindingFlags.NonPublic;

        public static IReadOnlyList<string>? Paths => AssetDatabase.FindAssets("t:BuildProfile", new[] { "Assets" })
            .Select(guid => AssetDatabase.GUIDToAssetPath(guid))
            .Distinct()
            .ToList();

        public static string? Active
        {
            get
            {
                var active = BuildProfile.GetActiveBuildProfile();
                return active == null ? null : AssetDatabase.GetAssetPath(active);
            }
        }

        /// <summary>Null when Unity was asked, else why not.</summary>
        public static string? Activate(string path)
        {
            var profile = AssetDatabase.LoadAssetAtPath<BuildProfile>(path);
            if (profile == null) return "it cannot be loaded";
            var target = TargetOf(profile);
            // Unity would make it the active one and stay on its platform.
            if (target is { } wanted && !BuildPipeline.IsBuildTargetSupported(BuildPipeline.GetBuildTargetGroup(wanted), wanted))
            {
                return $"this Editor cannot build for {wanted}; the Unity Hub installs what is missing";
            }
            BuildProfile.SetActiveBuildProfile(profile);
            return null;
        }

        /// <summary>A platform is chosen without a profile; answers the profile that was left.</summary>
        public static string? Leave()
        {
            var left = Active;
            if (left != null) BuildProfile.SetActiveBuildProfile(null);
            return left;
        }

        public static BuildReport Build(string path, string outputPath, BuildOptions options) =>
            BuildPipeline.BuildPlayer(new BuildPlayerWithProfileOptions
            {
                buildProfile = AssetDatabase.LoadAssetAtPath<BuildProfile>(path),
                locationPathName = outputPath,
                options = options,
            });

        /// <summary>Internal in Unity; null where it has gone.</summary>
        private static BuildTarget? TargetOf(BuildProfile profile) =>
            typeof(BuildProfile).GetProperty("buildTarget", Any)?.GetValue(profile) as BuildTarget?;
#else
        public static IReadOnlyList<string>? Paths => null;

        public static string? Active => null;

        public static string? Activate(string path) => "this Editor has no build profiles";

        public static string? Leave() => null;
#endif
    }
}
