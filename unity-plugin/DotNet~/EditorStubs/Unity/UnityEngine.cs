#nullable disable
using System;
using JobBroker.EditorStubs;

namespace UnityEngine
{
    public enum LogType
    {
        Error,
        Assert,
        Warning,
        Log,
        Exception,
    }

    [AttributeUsage(AttributeTargets.Field)]
    public sealed class SerializeField : Attribute
    {
    }

    public sealed class Application
    {
        public delegate void LogCallback(string condition, string stackTrace, LogType type);

        public static event LogCallback logMessageReceivedThreaded;

        public static string dataPath => StubEditor.DataPath;

        public static string unityVersion => "2021.3.0f1";

        public static string consoleLogPath => StubEditor.ConsoleLogPath;

        public static bool isBatchMode => StubEditor.IsBatchMode;

        internal static void Raise(string line, string stack, LogType type) =>
            logMessageReceivedThreaded?.Invoke(line, stack, type);
    }

    public class Debug
    {
        public static void Log(object message) => StubEditor.Console.Add("log: " + message);

        public static void LogWarning(object message) => StubEditor.Console.Add("warning: " + message);
    }

    [Flags]
    public enum HideFlags
    {
        None = 0,
        HideAndDontSave = 61,
    }

    public class ScriptableObject : Object
    {
        public static T CreateInstance<T>() where T : ScriptableObject
        {
            var made = Activator.CreateInstance<T>();
            StubEditor.Assets.Add(made);
            return made;
        }
    }
}
