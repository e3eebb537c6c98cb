using System;
using System.IO;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

/// <summary>
/// src/simulator/catalogue/catalogue.json is what get-tool-details answers: the simulator describes its tools with it. After
/// a wanted change, run this test once with UPDATE_GOLDEN=1 and look at the difference.
/// </summary>
public class ToolDetailsGoldenTests
{
    [Fact]
    public void The_catalogue_is_the_golden_one()
    {
        using var editor = new InMemoryEditor();
        var tools = new UnityToolRegistry(editor.Services, [], report => Assert.Fail(report));
        var actual = tools.Details(true).ToString() + "\n";
        var path = CatalogueFile();
        if (Environment.GetEnvironmentVariable("UPDATE_GOLDEN") == "1") File.WriteAllText(path, actual);
        // The file is formatted as the project formats JSON: what it says is compared, in its order.
        Assert.Equal(JToken.Parse(File.ReadAllText(path)).ToString() + "\n", actual);
    }

    private static string CatalogueFile()
    {
        for (var folder = new DirectoryInfo(AppContext.BaseDirectory); folder != null; folder = folder.Parent)
        {
            var catalogue = Path.Combine(folder.FullName, "src", "simulator", "catalogue");
            if (Directory.Exists(catalogue)) return Path.Combine(catalogue, "catalogue.json");
        }
        throw new DirectoryNotFoundException("No folder above the tests has src/simulator/catalogue.");
    }
}
