#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// What keeps a run from beginning: the framework would show a dialog, in which the main thread waits for a person, or run
    /// assemblies of older scripts. Main thread only.
    /// </summary>
    internal static class TestRunGate
    {
        private const int MostErrors = 20;
        private const int MostErrorLength = 300;
        private const int MostScenes = 20;

        /// <summary>
        /// Throws a <see cref="ToolException"/> that says what to do, unless the run may begin now; no test has run then.
        /// </summary>
        public static void Pass(ToolServices services, UnsavedScenes unsavedScenes)
        {
            RefuseBroken(services);
            var unsaved = Look(services, unsavedScenes);
            if (unsaved.Count > 0) Save(services.Tests, unsaved);
        }

        /// <summary>Returns the scenes that are to be saved. Throws as well, and has changed nothing.</summary>
        public static IReadOnlyList<UnsavedScene> Look(ToolServices services, UnsavedScenes unsavedScenes)
        {
            if (services.Editor.Phase == "playing")
            {
                throw new ToolException(
                    "editor_is_playing",
                    "The Editor is in play mode, and a test run begins outside it. Leave play mode (control-play-mode, Action: "
                    + "Exit), then call run-tests again.");
            }
            var unsaved = services.Tests.UnsavedScenes();
            if (unsaved.Count == 0) return unsaved;
            if (unsavedScenes == UnsavedScenes.Refuse) throw Unsaved(unsaved);
            SceneChanges.RefuseSaving("run-tests with UnsavedScenes: save", services.Security.Current);
            var unsavable = unsaved.Where(scene => scene.IsPrefab || scene.Path.Length == 0).ToList();
            if (unsavable.Count > 0) throw Unsaved(unsavable);
            return unsaved;
        }

        public static void RefuseBroken(ToolServices services)
        {
            if (services.Editor.Phase == "compile_errors") throw DoesNotCompile(services.Compiler.Errors());
        }

        private static ToolException DoesNotCompile(IReadOnlyList<CompilerMessage> errors)
        {
            const string type = "compile_errors";
            if (errors.Count == 0)
            {
                return new ToolException(type, "The scripts do not compile. Call compile with ForceRecompile to see the errors, and correct them.");
            }
            var shown = string.Concat(errors.Take(MostErrors).Select(error => "\n" + Line(error)));
            var more = errors.Count > MostErrors ? $"\n… and {errors.Count - MostErrors} more." : "";
            return new ToolException(
                type, $"The scripts do not compile ({errors.Count} errors). Correct them, then call run-tests again.{shown}{more}");
        }

        /// <summary>Unity puts the place before the text itself; the C# compiler's own messages do not have it.</summary>
        private static string Line(CompilerMessage error)
        {
            var hasPlace = error.File.Length == 0 || error.Message.StartsWith(error.File, System.StringComparison.Ordinal);
            var line = hasPlace ? error.Message : $"{error.File}({error.Line},{error.Column}): {error.Message}";
            line = line.Split('\n')[0].TrimEnd('\r');
            return line.Length <= MostErrorLength ? line : line.Substring(0, MostErrorLength) + "…";
        }

        /// <summary>The one place where this tool writes to the project's scenes.</summary>
        private static void Save(ITestRunner tests, IReadOnlyList<UnsavedScene> unsaved)
        {
            var failed = tests.SaveScenes(unsaved);
            if (failed.Count == 0) return;
            throw new ToolException(
                "unsaved_scenes", $"{Names(failed)} could not be saved; look whether the file may be written. No test ran.");
        }

        private static ToolException Unsaved(IReadOnlyList<UnsavedScene> scenes)
        {
            var advice = new List<string>();
            if (scenes.Any(scene => !scene.IsPrefab && scene.Path.Length > 0))
            {
                advice.Add("Call again with UnsavedScenes: save, or save or discard them in the Editor.");
            }
            if (scenes.Any(scene => !scene.IsPrefab && scene.Path.Length == 0))
            {
                advice.Add("A scene without a file has to be saved under a name, or closed, first.");
            }
            if (scenes.Any(scene => scene.IsPrefab)) advice.Add("A prefab has to be saved in Prefab Mode, or Prefab Mode left, first.");
            return new ToolException(
                "unsaved_scenes",
                $"Unsaved changes in {Names(scenes)}: Unity would ask a person about them before it runs tests. {string.Join(" ", advice)}");
        }

        private static string Names(IReadOnlyList<UnsavedScene> scenes)
        {
            var names = scenes.Take(MostScenes).Select(scene => scene.Path.Length > 0 ? scene.Path : $"the untitled scene \"{scene.Name}\"");
            return string.Join(", ", names) + (scenes.Count > MostScenes ? $" and {scenes.Count - MostScenes} more" : "");
        }
    }
}
