#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Reflection;
using JobBroker.Bridge.Code;
using UnityEditor;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// What code that execute-code compiles is compiled with: this Editor's compiler and loaded assemblies.
    /// </summary>
    internal static class UnityCode
    {
        /// <summary>Main thread only; what it answers may be called from any.</summary>
        public static Func<RoslynLocation?> Locator()
        {
            var contents = EditorApplication.applicationContentsPath;
            // Internal, from 6000.3 on.
            const BindingFlags anyStatic = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;
            var scripting = typeof(EditorApplication).GetProperty("applicationScriptingPath", anyStatic)?.GetValue(null) as string;
            return () => RoslynLocation.In(contents, scripting);
        }

        /// <summary>The files of the loaded assemblies, one of each name. Any thread.</summary>
        public static IReadOnlyList<string> References() => AppDomain.CurrentDomain.GetAssemblies()
            .Where(assembly => !assembly.IsDynamic && assembly.Location.Length > 0 && File.Exists(assembly.Location))
            .GroupBy(assembly => assembly.GetName().Name)
            .Select(group => group.First().Location)
            .ToList();
    }
}
