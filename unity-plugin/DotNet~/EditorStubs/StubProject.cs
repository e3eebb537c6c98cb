#nullable disable
using System;
using System.Collections.Generic;
using System.Linq;
using UnityEditor;
using UnityEngine;

namespace JobBroker.EditorStubs
{
    /// <summary>The project that the stubs' Editor has open. For tests; not Unity's API.</summary>
    public static class StubProject
    {
        private static readonly Dictionary<string, Type> Types = new Dictionary<string, Type>();

        public static BuildTarget ActiveTarget { get; set; } = BuildTarget.StandaloneLinux64;

        /// <summary>Player or server of a standalone platform, the texture compression of Android.</summary>
        public static int ActiveSubtarget { get; set; }

        public static bool RefusesSwitches { get; set; }

        /// <summary>Path of the active build profile; null without one.</summary>
        public static string ActiveProfile { get; set; }

        /// <summary>What was asked of the AssetDatabase, in order.</summary>
        public static List<string> Calls { get; } = new List<string>();

        /// <summary>Fault: the version control lets nobody change anything.</summary>
        public static bool IsLocked { get; set; }

        public static IEnumerable<string> Paths => Types.Keys.OrderBy(path => path, StringComparer.Ordinal);

        public static List<UnityEditor.PackageManager.PackageInfo> Registered { get; } =
            new List<UnityEditor.PackageManager.PackageInfo>();

        /// <summary>Requests by number, as the Package Manager's own process has them: null while one runs.</summary>
        public static Dictionary<long, StubRequest> Requests { get; } = new Dictionary<long, StubRequest>();

        public static void Reset()
        {
            Types.Clear();
            Calls.Clear();
            Registered.Clear();
            Requests.Clear();
            ActiveTarget = BuildTarget.StandaloneLinux64;
            ActiveProfile = null;
            RefusesSwitches = false;
            ActiveSubtarget = 0;
            EditorUserBuildSettings.buildAppBundle = EditorUserBuildSettings.exportAsGoogleAndroidProject = false;
            IsLocked = false;
            Add("Assets", typeof(DefaultAsset));
        }

        public static void Add(string path, Type type) => Types[path] = type;

        public static void Register(string name, string version, UnityEditor.PackageManager.PackageSource source, bool isDirect) =>
            Registered.Add(new UnityEditor.PackageManager.PackageInfo
            {
                name = name, version = version, source = source, packageId = name + "@" + version, isDirectDependency = isDirect,
            });

        internal static string PathOf(string guid) => Types.Keys.FirstOrDefault(path => "guid of " + path == guid);

        internal static bool Has(string path) => Types.ContainsKey(path);

        internal static Type TypeOf(string path) => Types.TryGetValue(path, out var type)
            ? type
            : path == "Assets/Found.mat" ? typeof(ScriptableObject) : null;

        internal static bool Do(string call)
        {
            if (IsLocked) return false;
            Calls.Add(call);
            return true;
        }

        internal static void Transfer(string from, string to, bool isMove)
        {
            foreach (var path in Types.Keys.Where(path => path == from || path.StartsWith(from + "/", StringComparison.Ordinal)).ToList())
            {
                if (to != null) Types[to + path.Substring(from.Length)] = Types[path];
                if (isMove) Types.Remove(path);
            }
        }
    }

    /// <summary>How a request has ended: with an error, or with a package.</summary>
    public sealed class StubRequest
    {
        public string Error { get; set; }

        public string Name { get; set; }

        public string Version { get; set; }
    }
}
