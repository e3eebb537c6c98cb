#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using System.Text.RegularExpressions;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Finds the object that a parameter names: by its id, by its path, or by a name that only one has.</summary>
    internal static class Targets
    {
        /// <summary>How many candidates a refusal lists.</summary>
        private const int Candidates = 10;

        /// <summary>The forms of ids: of an object of a saved scene, and of any other, which from 6000.6 on has an index and a version.</summary>
        private static readonly Regex Ids = new Regex(@"^(\d+(\.\d+)?@[0-9a-f]{8}|#-?\d+(:\d+)?)$", RegexOptions.CultureInvariant);

        /// <summary>Throws ToolException, with what there is instead, when it is not exactly one.</summary>
        public static SceneObject Find(ISceneQuery scene, string target, string parameter = "Target")
        {
            if (target.Trim('/', ' ').Length == 0)
            {
                throw new ToolException(ToolException.InvalidArguments, $"{parameter} is empty: give an id, a path or a name.");
            }
            var found = All(scene, target);
            return found.Count == 1 ? found[0] : throw Ambiguous(target, found);
        }

        /// <summary>The object of an id, or all of a path or name; throws ToolException when there is none.</summary>
        public static IReadOnlyList<SceneObject> All(ISceneQuery scene, string target)
        {
            if (Ids.IsMatch(target)) return new[] { scene.Find(target) ?? throw Gone(target) };
            var found = Matching(scene, target);
            return found.Count > 0 ? found : throw NotFound(scene, target);
        }

        private static List<SceneObject> Matching(ISceneQuery scene, string target)
        {
            var all = SceneWalk.From(scene.Roots(), true).Select(entry => entry.Key);
            var isPath = target.IndexOf('/') >= 0;
            return all.Where(one => isPath ? SceneWalk.SamePath(one.Path, target) : one.Name == target).ToList();
        }

        private static ToolException Gone(string id) => new ToolException(
            "game_object_not_found",
            $"No open scene has an object of the id {id}: it was deleted, or its scene was closed or loaded again. Find it again with "
                + "find-game-objects.");

        private static ToolException NotFound(ISceneQuery scene, string target)
        {
            var name = target.Substring(target.LastIndexOf('/') + 1);
            var near = SceneWalk.From(scene.Roots(), true)
                .Select(entry => entry.Key)
                .Where(one => Nearest.IsNear(one.Name, name))
                .Take(3)
                .Select(one => $"{SceneWalk.Rooted(one.Path)} ({one.Id})")
                .ToList();
            var hint = near.Count == 0 ? "find-game-objects lists what there is." : $"Did you mean {string.Join(" or ", near)}?";
            return new ToolException("game_object_not_found", $"No open scene has an object {target}. {hint}");
        }

        private static ToolException Ambiguous(string target, IReadOnlyList<SceneObject> found)
        {
            var listed = found.Take(Candidates).Select(one => $"{one.Id} ({SceneWalk.Rooted(one.Path)})");
            var more = found.Count > Candidates ? $" and {found.Count - Candidates} more" : "";
            return new ToolException(
                "game_object_ambiguous",
                $"{found.Count} objects are called {target}: {string.Join(", ", listed)}{more}. Name one by its id.");
        }
    }
}
