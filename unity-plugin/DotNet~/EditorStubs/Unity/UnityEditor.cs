#nullable disable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Threading;
using JobBroker.EditorStubs;
using UnityEngine;
using Object = UnityEngine.Object;

namespace UnityEditor
{
    [AttributeUsage(AttributeTargets.Class)]
    public class InitializeOnLoadAttribute : Attribute
    {
    }

    public class EditorApplication
    {
        public delegate void CallbackFunction();

        public static CallbackFunction update;

        public static event Action quitting;

        public static bool isCompiling => StubEditor.IsCompiling;

        public static bool isUpdating => StubEditor.IsImporting;

        public static bool isPlaying
        {
            get => StubEditor.IsPlaying;
            set
            {
                if (StubEditor.PlaysLater) StubEditor.IsChangingPlayMode = value != StubEditor.IsPlaying;
                else StubEditor.IsPlaying = value;
            }
        }

        public static bool isPaused { get; set; }

        public static bool isPlayingOrWillChangePlaymode => StubEditor.IsChangingPlayMode != isPlaying;

#if UNITY_2022_3_OR_NEWER
        public static bool isFocused =>
            StubEditor.FocusFails ? throw new InvalidOperationException("no focus") : StubEditor.IsFocused;
#endif

        public static string applicationContentsPath => StubEditor.ContentsPath;

#if UNITY_6000_3_OR_NEWER
        internal static string applicationScriptingPath => StubEditor.ContentsPath + "/Resources/Scripting";
#endif

        public static void QueuePlayerLoopUpdate() => StubEditor.PlayerLoopUpdates++;

        public static bool ExecuteMenuItem(string menuItemPath)
        {
            StubEditor.ExecutedMenuItems.Add(menuItemPath);
            return !menuItemPath.StartsWith("Nowhere", StringComparison.Ordinal);
        }

        public static void Step()
        {
            isPaused = true;
            StubEditor.Frame++;
        }

        internal static void SignalTick() => Interlocked.Increment(ref StubEditor.Ticks);

        internal static void RaiseQuitting() => quitting?.Invoke();
    }

    internal class LogEntry
    {
        public string message;
        public int mode;
        public int callstackTextStartUTF16;
    }

    internal sealed class LogEntries
    {
        private const int Collapse = 1;

        private static List<(string Text, string Stack, int Mode)> shown;

        public static int consoleFlags
        {
            get => StubEditor.ConsoleFlags;
            set => StubEditor.ConsoleFlags = value;
        }

        public static string GetFilteringText() => StubEditor.ConsoleFilter;

        public static void SetFilteringText(string filteringText) => StubEditor.ConsoleFilter = filteringText;

        public static int StartGettingEntries()
        {
            if (StubEditor.HidesConsole) throw new NotSupportedException("The Console is another one.");
            var lines = StubEditor.ConsoleEntries.Where(IsShown);
            shown = ((StubEditor.ConsoleFlags & Collapse) == 0 ? lines : lines.Distinct()).ToList();
            return shown.Count;
        }

        public static bool GetEntryInternal(int row, LogEntry outputEntry)
        {
            outputEntry.message = shown[row].Text + "\n" + shown[row].Stack;
            outputEntry.mode = shown[row].Mode;
            outputEntry.callstackTextStartUTF16 = shown[row].Text.Length + 1;
            return true;
        }

        public static void EndGettingEntries() => shown = null;

        public static int GetCount() => StubEditor.ConsoleEntries.Count;

        public static void Clear() => StubEditor.ConsoleEntries.Clear();

        private static bool IsShown((string Text, string Stack, int Mode) one)
        {
            const int logs = (1 << 2) | (1 << 10);
            const int warnings = (1 << 7) | (1 << 9) | (1 << 12);
            var level = (one.Mode & logs) != 0 ? 1 << 7 : (one.Mode & warnings) != 0 ? 1 << 8 : 1 << 9;
            return (StubEditor.ConsoleFlags & level) != 0 && one.Text.Contains(StubEditor.ConsoleFilter);
        }
    }

    public class AssemblyReloadEvents
    {
        public delegate void AssemblyReloadCallback();

        public static event AssemblyReloadCallback beforeAssemblyReload;

        public static event AssemblyReloadCallback afterAssemblyReload;

        internal static int BeforeListeners => beforeAssemblyReload?.GetInvocationList().Length ?? 0;

        internal static void RaiseBefore() => beforeAssemblyReload?.Invoke();

        internal static void RaiseAfter() => afterAssemblyReload?.Invoke();
    }

    public class EditorPrefs
    {
        public static int GetInt(string key, int defaultValue) =>
            StubEditor.Preferences.TryGetValue(key, out var value) ? value : defaultValue;
    }

    public class EditorUtility
    {
        public static bool scriptCompilationFailed => StubEditor.HasCompileErrors;
    }

    public sealed class SessionState
    {
        public static string GetString(string key, string defaultValue) =>
            StubEditor.Session.TryGetValue(key, out var value) ? value : defaultValue;

        public static void SetString(string key, string value) => StubEditor.Session[key] = value;

        public static void EraseString(string key) => StubEditor.Session.Remove(key);
    }

    public sealed class Selection
    {
        public static GameObject[] gameObjects => StubEditor.ActiveScene.Roots.Take(1).ToArray();

        public static Object[] objects => StubEditor.Selected.ToArray();
    }

    public class MenuCommand
    {
        public MenuCommand(Object inContext)
        {
            context = inContext;
        }

        public Object context;
    }

    [AttributeUsage(AttributeTargets.Method, AllowMultiple = true)]
    public sealed class MenuItem : Attribute
    {
        public string menuItem;
        public bool validate;
        public int priority;

        public MenuItem(string itemName)
        {
            menuItem = itemName;
        }

        public MenuItem(string itemName, bool isValidateFunction)
        {
            menuItem = itemName;
            validate = isValidateFunction;
        }
    }

    public static class TypeCache
    {
        public static MethodCollection GetMethodsWithAttribute<T>() where T : Attribute => new MethodCollection(
            StubEditor.Methods.Where(method => method.IsDefined(typeof(T), false)));

        public static TypeCollection GetTypesWithAttribute<T>() where T : Attribute => new TypeCollection(
            StubEditor.Types.Where(type => type.IsDefined(typeof(T), false)));

        public static TypeCollection GetTypesDerivedFrom<T>() => new TypeCollection(
            StubEditor.Types.Append(typeof(BoxCollider)).Where(type => type.IsSubclassOf(typeof(T))));

        public struct MethodCollection : IEnumerable<System.Reflection.MethodInfo>
        {
            private readonly System.Reflection.MethodInfo[] found;

            internal MethodCollection(IEnumerable<System.Reflection.MethodInfo> found)
            {
                this.found = found.ToArray();
            }

            IEnumerator<System.Reflection.MethodInfo> IEnumerable<System.Reflection.MethodInfo>.GetEnumerator() =>
                ((IEnumerable<System.Reflection.MethodInfo>)found).GetEnumerator();

            System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => found.GetEnumerator();
        }

        public struct TypeCollection : IEnumerable<Type>
        {
            private readonly Type[] found;

            internal TypeCollection(IEnumerable<Type> found)
            {
                this.found = found.ToArray();
            }

            IEnumerator<Type> IEnumerable<Type>.GetEnumerator() => ((IEnumerable<Type>)found).GetEnumerator();

            System.Collections.IEnumerator System.Collections.IEnumerable.GetEnumerator() => found.GetEnumerator();
        }
    }

    [AttributeUsage(AttributeTargets.Class)]
    public class FilePathAttribute : Attribute
    {
        public FilePathAttribute(string relativePath, Location location)
        {
        }

        public enum Location
        {
            PreferencesFolder,
            ProjectFolder,
        }
    }

    public class ScriptableSingleton<T> : ScriptableObject where T : ScriptableObject
    {
        private static T made;

        public static T instance => made ??= CreateInstance<T>();

        protected virtual void Save(bool saveAsText) => StubEditor.SavedSettings++;
    }

    [Flags]
    public enum EnterPlayModeOptions
    {
        None = 0,
        DisableDomainReload = 1,
        DisableSceneReload = 2,
    }

    public sealed class EditorSettings : Object
    {
        public static bool enterPlayModeOptionsEnabled { get; set; }

        public static EnterPlayModeOptions enterPlayModeOptions { get; set; }
    }
}

namespace UnityEditorInternal
{
    public class InternalEditorUtility
    {
        public static string[] tags => new[] { "Untagged", "Player" };

#if !UNITY_2022_3_OR_NEWER
        public static bool isApplicationActive => StubEditor.IsFocused;
#endif
    }
}
