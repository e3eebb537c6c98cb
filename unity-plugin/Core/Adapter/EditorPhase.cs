#nullable enable
namespace JobBroker.Bridge.Adapter
{
    /// <summary>
    /// The Editor's phase as docs/reference/protocol.md names it; the one that blocks callers longest comes first.
    /// </summary>
    public static class EditorPhase
    {
        public const string Ready = "ready";

        public static string Of(
            bool isBuilding,
            bool isCompiling,
            bool isImporting,
            bool isChangingPlayMode,
            bool isTesting,
            bool isPlaying,
            bool hasCompileErrors)
        {
            if (isBuilding) return "building";
            if (isCompiling) return "compiling";
            if (isImporting) return "importing";
            if (isChangingPlayMode) return "changing_play_mode";
            if (isTesting) return "testing";
            if (isPlaying) return "playing";
            return hasCompileErrors ? "compile_errors" : Ready;
        }
    }
}
