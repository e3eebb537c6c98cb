#nullable enable
using System;
using System.Linq;

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
    }
}
