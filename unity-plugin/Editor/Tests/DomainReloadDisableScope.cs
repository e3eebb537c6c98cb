#nullable enable
using System;
using System.Globalization;
using System.IO;
using JobBroker.Bridge.Tools;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Lets the Editor enter play mode without a domain reload, and puts the project's own choice back. That choice is kept in
    /// a file of the project's Library, before it is changed: neither a domain reload nor a crash may lose it. Main thread only.
    /// </summary>
    internal sealed class DomainReloadDisableScope
    {
        private readonly string marker;

        public DomainReloadDisableScope(string projectPath)
        {
            marker = Path.Combine(projectPath, "Library", "JobBroker", "enter-play-mode-options.txt");
        }

        private static string Now
        {
            get
            {
                var options = (int)EditorSettings.enterPlayModeOptions;
                return $"{(EditorSettings.enterPlayModeOptionsEnabled ? 1 : 0)} {options.ToString(CultureInfo.InvariantCulture)}";
            }
        }

        /// <summary>Throws a <see cref="ToolException"/> when the project's own choice cannot be kept; nothing is changed then.</summary>
        public void Enter()
        {
            Restore();
            var own = EditorSettings.enterPlayModeOptionsEnabled ? EditorSettings.enterPlayModeOptions : EnterPlayModeOptions.None;
            var wanted = own | EnterPlayModeOptions.DisableDomainReload;
            try
            {
                Directory.CreateDirectory(Path.GetDirectoryName(marker)!);
                File.WriteAllText(marker, $"{Now} 1 {((int)wanted).ToString(CultureInfo.InvariantCulture)}");
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new ToolException(
                    "test_run_failed",
                    "Reload Domain was not disabled, as the project's own choice could not be kept in its Library: "
                    + $"{error.Message} Call with ReloadDomain: keep.");
            }
            EditorSettings.enterPlayModeOptionsEnabled = true;
            EditorSettings.enterPlayModeOptions = wanted;
        }

        /// <summary>
        /// Puts back what was there, unless somebody has changed it since; nothing happens without <see cref="Enter"/>.
        /// </summary>
        public void Restore()
        {
            if (!File.Exists(marker)) return;
            var kept = File.ReadAllText(marker).Split(' ');
            // One that was cut while it was written: nothing had been changed by then.
            if (kept.Length == 4 && Now == $"{kept[2]} {kept[3]}" && int.TryParse(kept[1], out var options))
            {
                EditorSettings.enterPlayModeOptions = (EnterPlayModeOptions)options;
                EditorSettings.enterPlayModeOptionsEnabled = kept[0] == "1";
            }
            File.Delete(marker);
        }
    }
}
