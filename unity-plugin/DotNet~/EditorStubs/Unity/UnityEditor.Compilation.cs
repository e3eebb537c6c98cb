#nullable disable
using System;
using JobBroker.EditorStubs;

namespace UnityEditor.Compilation
{
    public enum CompilerMessageType
    {
        Error,
        Warning,
        Info,
    }

    public struct CompilerMessage
    {
        public string message;
        public string file;
        public int line;
        public int column;
        public CompilerMessageType type;
    }

    [Flags]
    public enum RequestScriptCompilationOptions
    {
        None = 0,
        CleanBuildCache = 1,
    }

    public static class CompilationPipeline
    {
        public static event Action<object> compilationStarted;

        public static event Action<object> compilationFinished;

        public static event Action<string, CompilerMessage[]> assemblyCompilationFinished;

        public static void RequestScriptCompilation(RequestScriptCompilationOptions options) =>
            StubEditor.CompilationRequests.Add(options.ToString());

        internal static void Run(params CompilerMessage[] messages)
        {
            compilationStarted?.Invoke(null);
            assemblyCompilationFinished?.Invoke("Library/ScriptAssemblies/Assembly-CSharp.dll", messages);
            compilationFinished?.Invoke(null);
        }
    }
}
