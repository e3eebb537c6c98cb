#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Platforms and build profiles as callers name them.</summary>
    internal static class BuildTargets
    {
        private const int MostNames = 20;

        /// <summary>Throws a ToolException unless one of the two is named and this Editor has it.</summary>
        public static void Check(IBuildRunner builds, string target, string profile)
        {
            if ((target.Length > 0) == (profile.Length > 0))
            {
                throw new ToolException(ToolException.InvalidArguments, "Give either BuildTarget or BuildProfile.");
            }
            if (profile.Length > 0) CheckProfile(builds, profile);
            else NameOf(builds, target);
        }

        /// <summary>Unity's spelling of a platform that this Editor can build for; throws unsupported_build_target.</summary>
        public static string NameOf(IBuildRunner builds, string target)
        {
            var supported = builds.SupportedTargets;
            return supported.FirstOrDefault(one => string.Equals(one, target, StringComparison.OrdinalIgnoreCase))
                ?? throw new ToolException(
                    "unsupported_build_target",
                    $"This Editor cannot build for {target}. It can build for {string.Join(", ", supported)}; "
                    + "the Unity Hub installs more.");
        }

        /// <summary>Throws where this Editor has no profiles, or none at the path.</summary>
        public static void CheckProfile(IBuildRunner builds, string path)
        {
            var profiles = builds.Profiles;
            if (profiles == null)
            {
                throw new ToolException(
                    "build_profiles_unsupported", "This Editor has no build profiles: they came with Unity 6. Use BuildTarget.");
            }
            if (profiles.Contains(path)) return;
            throw new ToolException("build_profile_not_found", $"There is no build profile {path}. {Listed(profiles)}");
        }

        private static string Listed(IReadOnlyList<string> profiles) => profiles.Count == 0
            ? "The project has none."
            : $"The project has {string.Join(", ", profiles.Take(MostNames))}.";
    }
}
