#nullable enable
using System;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Paths of scenes, as the Editor's asset database has them: below Assets or Packages, with slashes.</summary>
    internal static class ScenePath
    {
        private const string Ending = ".unity";

        /// <summary>The path with its ending; throws ToolException for one that leads elsewhere.</summary>
        public static string Checked(string parameter, string path)
        {
            var parts = path.Split('/');
            var isBelow = parts.Length > 1 && (parts[0] == "Assets" || parts[0] == "Packages");
            var isPlain = path.IndexOf('\\') < 0 && parts.All(part => part.Trim().Length > 0 && part != "." && part != "..");
            if (!isBelow || !isPlain)
            {
                throw new ToolException(
                    ToolException.InvalidArguments,
                    $"{parameter} must be below Assets/ or Packages/, as Assets/Scenes/Main.unity, not \"{path}\".");
            }
            return path.EndsWith(Ending, StringComparison.OrdinalIgnoreCase) ? path : path + Ending;
        }

        /// <summary>
        /// The path for a scene that is written there first; throws ToolException where Unity would import none, and where a file is
        /// already: the disk is asked, as it may ignore letter case, and as Unity may not have imported what is there.
        /// </summary>
        /// <param name="advice">What to do about a scene that is there.</param>
        public static string New(ISceneFiles scenes, IAssets assets, string parameter, string given, string advice)
        {
            var path = AssetPath.Writable(assets, parameter, Checked(parameter, given));
            if (scenes.Known().Contains(path) || assets.Get(path) != null) throw new ToolException("scene_exists", $"There is a scene {path} already: {advice}.");
            if (!assets.IsOnDisk(path)) return path;
            throw new ToolException("scene_exists", $"A file that is not imported is at {path}: manage-assets, Action Refresh, imports it.");
        }
    }
}
