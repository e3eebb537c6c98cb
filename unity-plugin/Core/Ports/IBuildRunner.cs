#nullable enable
using System;
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    public sealed class BuildRequest
    {
        public BuildRequest(
            string target, string outputPath, bool development, IReadOnlyList<string> scenes, string? profile = null)
        {
            Profile = profile;
            Target = target;
            OutputPath = outputPath;
            Development = development;
            Scenes = scenes;
        }

        /// <summary>Unity's name of the build target, for example Android.</summary>
        public string Target { get; }

        public string OutputPath { get; }

        public bool Development { get; }

        /// <summary>Scene paths; empty means the scenes of the build settings, or of the profile.</summary>
        public IReadOnlyList<string> Scenes { get; }

        /// <summary>Path of the build profile, which is the active one; null builds without.</summary>
        public string? Profile { get; }
    }

    /// <summary>A file that Unity says it has written.</summary>
    public sealed class BuiltFile
    {
        public BuiltFile(string path, long bytes, string role)
        {
            Path = path;
            Bytes = bytes;
            Role = role;
        }

        /// <summary>Relative ones start in the project's folder.</summary>
        public string Path { get; }

        public long Bytes { get; }

        /// <summary>Unity's word for what it is for.</summary>
        public string Role { get; }
    }

    public sealed class BuildOutcome
    {
        public BuildOutcome(
            bool succeeded,
            string summary,
            string outputPath,
            long totalBytes,
            double totalSeconds,
            int errors,
            int warnings,
            IReadOnlyList<string> messages,
            IReadOnlyList<BuiltFile>? files = null)
        {
            Files = files ?? Array.Empty<BuiltFile>();
            Succeeded = succeeded;
            Summary = summary;
            OutputPath = outputPath;
            TotalBytes = totalBytes;
            TotalSeconds = totalSeconds;
            Errors = errors;
            Warnings = warnings;
            Messages = messages;
        }

        public bool Succeeded { get; }

        /// <summary>Unity's word: Succeeded, Failed, Cancelled, Unknown.</summary>
        public string Summary { get; }

        public string OutputPath { get; }

        public long TotalBytes { get; }

        public double TotalSeconds { get; }

        public int Errors { get; }

        public int Warnings { get; }

        public IReadOnlyList<string> Messages { get; }

        /// <summary>All that Unity names, also what is not part of the player.</summary>
        public IReadOnlyList<BuiltFile> Files { get; }
    }

    /// <summary>Player builds. Main thread only; Build blocks it until the build ends, and only the returned report is the truth.</summary>
    public interface IBuildRunner
    {
        /// <summary>The target that the Editor is switched to.</summary>
        string ActiveTarget { get; }

        /// <summary>
        /// The extension of the player's file that the Editor's settings ask for (Android: an app bundle), empty for a folder (an
        /// exported project); null for what the platform usually has.
        /// </summary>
        string? PlayerExtension { get; }

        /// <summary>Targets whose build support is installed.</summary>
        IReadOnlyList<string> SupportedTargets { get; }

        /// <summary>Paths of the project's build profiles; null in Editors without them (before Unity 6).</summary>
        IReadOnlyList<string>? Profiles { get; }

        /// <summary>Path of the active build profile; null when a platform is chosen instead.</summary>
        string? ActiveProfile { get; }

        /// <summary>
        /// Switches to a platform, away from any profile: assets are imported before it returns, scripts are compiled and the
        /// domain is reloaded afterwards. Null when it is done, else why not.
        /// </summary>
        string? Switch(string target);

        /// <summary>The same to a build profile and its platform.</summary>
        string? SwitchToProfile(string path);

        /// <param name="step">Called for each step (name, fraction of the whole from 0 to 1, or a negative number when unknown); may come from any thread.</param>
        BuildOutcome Build(BuildRequest request, Action<string, double> step);
    }
}
