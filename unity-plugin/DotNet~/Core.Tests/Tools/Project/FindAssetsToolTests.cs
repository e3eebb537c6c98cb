using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools.BuiltIn;
using Newtonsoft.Json.Linq;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools.Project;

public sealed class FindAssetsToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public FindAssetsToolTests()
    {
        editor.Assets.Add("Assets/Art", "DefaultAsset", true);
        editor.Assets.Add("Assets/Art/Rock.png", "Texture2D");
        editor.Assets.Add("Assets/Art/Rock.mat", "Material");
        editor.Assets.Add("Assets/Stone.mat", "Material");
        editor.Assets.Add("Packages/com.studio.rocks", "DefaultAsset", true);
        editor.Assets.Add("Packages/com.studio.rocks/Rock.mat", "Material");
    }

    public void Dispose() => editor.Dispose();

    private FindAssetsTool Tool => new(editor.Services);

    [Fact]
    public async Task Assets_are_found_by_name_type_and_folder()
    {
        Assert.Equal(["Assets/Art/Rock.mat", "Assets/Art/Rock.png"], Paths(await Find(new { SearchFilter = "rock" })));
        Assert.Equal(["Assets/Art/Rock.mat", "Assets/Stone.mat"], Paths(await Find(new { Type = "Material" })));
        Assert.Equal(["Assets/Art/Rock.mat"], Paths(await Find(new { Type = "Material", Folder = "Assets/Art/" })));
        Assert.Equal(["Packages/com.studio.rocks/Rock.mat"], Paths(await Find(new { Type = "Material", Folder = "Packages" })));
        var one = (await Find(new { SearchFilter = "Stone" }))["Results"]![0]!;
        Assert.Equal(("Material", editor.Assets.Get("Assets/Stone.mat")!.Guid), ((string)one["Type"]!, (string)one["Guid"]!));
        Assert.Null(one["ImportSettings"]);
    }

    [Fact]
    public async Task A_long_list_is_cut_and_counted()
    {
        for (var at = 0; at < 30; at++) editor.Assets.Add($"Assets/Many{at:00}.mat", "Material");
        var answer = await Find(new { SearchFilter = "Many", MaxResults = 2 });
        Assert.Equal(30, (int)answer["TotalFound"]!);
        Assert.Equal(["Assets/Many00.mat", "Assets/Many01.mat"], Paths(answer));
    }

    [Fact]
    public async Task One_asset_is_read_with_its_import_settings()
    {
        var one = Assert.Single((await Find(new { Path = "Assets/Art/Rock.png" }))["Results"]!);
        Assert.Equal("false", (string)one["ImportSettings"]!["m_IsReadable"]!);
        var gone = await ToolCall.Fails(Tool, new { Path = "Assets/Rock.png" });
        Assert.Equal("asset_not_found", gone.Type);
        Assert.Contains("Did you mean Assets/Art/Rock.mat or Assets/Art/Rock.png?", gone.Message);
    }

    [Theory]
    [InlineData("Folder", "Assets/Nowhere", "asset_not_found")]
    [InlineData("Folder", "Assets/Stone.mat", "invalid_arguments")]
    [InlineData("Folder", "../Other", "invalid_arguments")]
    [InlineData("Path", "/etc/passwd", "invalid_arguments")]
    [InlineData("Type", "Material l:x", "invalid_arguments")]
    public async Task What_cannot_be_looked_for_is_refused(string parameter, string value, string type)
    {
        var refused = await ToolCall.Fails(Tool, new JObject { [parameter] = value });
        Assert.Equal(type, refused.Type);
        if (type == "invalid_arguments") Assert.StartsWith(parameter, refused.Message);
    }

    private Task<JToken> Find(object arguments) => new ToolCall().Run(Tool, arguments);

    private static string[] Paths(JToken answer) => answer["Results"]!.Select(one => (string)one["Path"]!).ToArray();
}
