using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tests.Ledger;

/// <summary>The cases that the TypeScript tests read too.</summary>
internal static class Golden
{
    public static string PathOf(string name)
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder != null; folder = folder.Parent)
        {
            var path = Path.Combine(folder.FullName, "test", "golden", name);
            if (File.Exists(path))
            {
                return path;
            }
        }

        throw new FileNotFoundException($"There is no test/golden/{name} above {AppContext.BaseDirectory}.");
    }

    public static IReadOnlyList<JObject> Cases(string name)
    {
        using var reader = new JsonTextReader(File.OpenText(PathOf(name)));
        reader.DateParseHandling = DateParseHandling.None;
        return JObject.Load(reader)["cases"]!.Cast<JObject>().ToList();
    }
}
