#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>What the bridge knows of its Editor. Every member may be read from any thread: adapters keep snapshots.</summary>
    public interface IEditorInfo
    {
        string ProjectName { get; }

        /// <summary>Absolute path of the project's folder, links resolved.</summary>
        string ProjectPath { get; }

        string UnityVersion { get; }

        int ProcessId { get; }

        /// <summary>When this Editor process started, milliseconds since the Unix epoch.</summary>
        long ProcessStartedAtMs { get; }

        /// <summary>Absolute path of the file that this Editor writes its log to; null where it writes none.</summary>
        string? LogFile { get; }

        /// <summary>Which pools it is in: see EditorLabels.</summary>
        IReadOnlyList<string> Labels { get; }

        /// <summary>Grows with every change of assets.</summary>
        long AssetCounter { get; }

        /// <summary>Whether a window of this Editor has the focus.</summary>
        bool Focused { get; }

        /// <summary>
        /// What the Editor does at this moment, in the words of docs/reference/protocol.md: ready, compiling, importing,
        /// changing_play_mode, testing, building, playing, compile_errors. On the main thread it is what Unity says now: an
        /// operation may begin right after one that made Unity compile.
        /// </summary>
        string Phase { get; }
    }
}
