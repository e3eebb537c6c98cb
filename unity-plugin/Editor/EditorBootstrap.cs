#nullable enable
using System;
using JobBroker.Bridge.Adapter;
using UnityEditor;
using UnityEditor.MPE;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// Starts the bridge in each script domain of the Editor and ends it before the next. The order of static
    /// constructors and afterAssemblyReload is not documented: both ask for the same start, which happens once.
    /// </summary>
    [InitializeOnLoad]
    public static class EditorBootstrap
    {
        private static bool isOver;

        static EditorBootstrap()
        {
            // An exception would leave a class that throws TypeInitializationException whenever it is asked.
            try
            {
                if (IsHelper) return;
                AssemblyReloadEvents.afterAssemblyReload += EnsureStarted;
                AssemblyReloadEvents.beforeAssemblyReload += BeforeReload;
                EditorApplication.quitting += Quit;
                EnsureStarted();
            }
            catch (Exception error)
            {
                Failed(error);
            }
        }

        /// <summary>The bridge of this script domain; null where none runs.</summary>
        internal static EditorBridge? Bridge { get; private set; }

        /// <summary>Why the bridge could not be put together in this script domain; null when it could.</summary>
        internal static string? Failure { get; private set; }

        private static bool IsHelper =>
            AssetDatabase.IsAssetImportWorkerProcess() || ProcessService.level == ProcessLevel.Secondary;

        /// <summary>
        /// Starts the bridge unless it runs, may not, has failed, or its script domain is over. Main thread only.
        /// </summary>
        internal static void EnsureStarted()
        {
            if (Bridge != null || isOver || Failure != null) return;
            var asked = Environment.GetEnvironmentVariable(StartRule.Variable);
            if (!StartRule.MayRun(IsHelper, Application.isBatchMode, Environment.GetCommandLineArgs(), asked)) return;
            try
            {
                Bridge = new EditorBridge();
            }
            catch (Exception error)
            {
                Failed(error);
                return;
            }
            EditorApplication.update += Bridge.Tick;
            Bridge.Start();
        }

        private static void Failed(Exception error)
        {
            Failure = "The bridge cannot run in this Editor. " + error;
            new UnityLog().Warn(Failure);
        }

        private static void BeforeReload() => End(bridge => bridge.BeforeReload());

        private static void Quit() => End(bridge => bridge.Quit());

        private static void End(Action<EditorBridge> end)
        {
            isOver = true;
            var bridge = Bridge;
            if (bridge == null) return;
            Bridge = null;
            EditorApplication.update -= bridge.Tick;
            end(bridge);
        }
    }
}
