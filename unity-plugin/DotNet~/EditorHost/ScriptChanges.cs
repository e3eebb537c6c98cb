using System.Text.Json;
using System.Text.Json.Nodes;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost;

/// <summary>Changes of the script of tests, builds and compilations, by the camelCase names of its properties.</summary>
internal static class ScriptChanges
{
    public static void Apply(Script script, JsonObject command)
    {
        foreach (var property in typeof(Script).GetProperties())
        {
            var name = JsonNamingPolicy.CamelCase.ConvertName(property.Name);
            if (command[name] is { } value) property.SetValue(script, value.Deserialize(property.PropertyType));
        }
    }
}
