#nullable enable
using System;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>An object that was changed, as it is now.</summary>
    public class ChangedObject
    {
        [JsonProperty("id")]
        public string Id { get; set; } = "";

        [JsonProperty("name")]
        public string Name { get; set; } = "";

        [JsonProperty("path")]
        public string Path { get; set; } = "";

        [JsonProperty("scene")]
        public string Scene { get; set; } = "";

        /// <summary>Null when there is nothing to warn of.</summary>
        [JsonProperty("warning")]
        public string? Warning { get; set; }
    }

    /// <summary>What the tools that change objects have in common.</summary>
    internal static class ObjectEdit
    {
        private const string LostLater = "The Editor is in play mode: this change is lost when play mode ends.";

        /// <summary>Fills an answer with the object as it is now.</summary>
        public static T Tell<T>(T answer, SceneObject one, IObjectEditing objects)
            where T : ChangedObject
        {
            answer.Id = one.Id;
            answer.Name = one.Name;
            answer.Path = SceneWalk.Rooted(one.Path);
            answer.Scene = one.Scene;
            answer.Warning = WarningOf(one, objects);
            return answer;
        }

        public static string? WarningOf(SceneObject one, IObjectEditing objects) =>
            objects.IsPlaying && !objects.IsInPrefabMode(one) ? LostLater : null;

        /// <summary>Throws ToolException unless it is left out or has three numbers.</summary>
        public static double[]? Three(string parameter, double[]? numbers)
        {
            if (numbers == null) return numbers;
            if (numbers.Length != 3)
            {
                throw new ToolException(
                    ToolException.InvalidArguments, $"{parameter} must have 3 numbers, x, y and z, not {numbers.Length}.");
            }
            if (numbers.All(number => Math.Abs(number) <= float.MaxValue)) return numbers;
            throw new ToolException(
                ToolException.InvalidArguments, $"{parameter} must have 3 numbers that fit: to {float.MaxValue.ToString(CultureInfo.InvariantCulture)}.");
        }

        /// <summary>The full name of the one component type of that name.</summary>
        public static string ComponentType(IObjectEditing objects, string name)
        {
            var types = objects.ComponentTypes(name);
            if (types.Count == 1) return types[0];
            throw types.Count == 0
                ? new ToolException("component_type_not_found", $"There is no component type {name}. Look at its spelling; a new script is there once it is compiled (compile).")
                : new ToolException(
                    "component_type_ambiguous", $"Several component types are {name}: {string.Join(", ", types)}. Give the full name.");
        }

        /// <summary>How many objects there are below, with the object itself.</summary>
        public static int CountOf(SceneObject one) => SceneWalk.From(new[] { one }, true).Count();
    }
}
