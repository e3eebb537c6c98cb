#nullable enable
using System.IO;
using JobBroker.Bridge.Endpoint;
using Xunit;

namespace JobBroker.Bridge.Tests.Endpoint;

/// <summary>
/// The values were computed by the simulator's `identify` (src/simulator/identity.ts) on a machine
/// "build-07.example".
/// </summary>
public sealed class EditorIdentityTests
{
    private const string Machine = "build-07.example";

    [Theory]
    [InlineData("/nowhere/My Game", "my-game@a3ab6e69", "My Game")]
    [InlineData("/nowhere/my-game", "my-game@4d9f8c27", "my-game")]
    [InlineData("/nowhere/--A__b--", "a-b@6e8e5eab", "--A__b--")]
    [InlineData("/nowhere/\u65e5\u672c", "project@0bf61d69", "\u65e5\u672c")]
    [InlineData("/nowhere/H\u00e4\u00dflich 2", "h-lich-2@81d4e9e5", "H\u00e4\u00dflich 2")]
    [InlineData("/nowhere/\u212aelvin", "kelvin@fe5713bc", "\u212aelvin")]
    [InlineData("/nowhere/\u0130stanbul", "i-stanbul@1f7a0c82", "\u0130stanbul")]
    [InlineData("/nowhere/x\u0130", "xi@0c7ed354", "x\u0130")]
    [InlineData("/nowhere/Game.2022.3 (copy)", "game-2022-3-copy@0e226962", "Game.2022.3 (copy)")]
    [InlineData("/nowhere/\ud83c\udfaeGAME\ud83c\udfae", "game@28469ad3", "\ud83c\udfaeGAME\ud83c\udfae")]
    [InlineData("/nowhere/-", "project@a1fe782c", "-")]
    [InlineData("/nowhere/0", "0@1e05b6ad", "0")]
    public void The_same_as_the_simulator_s(string path, string editorId, string name)
    {
        var identity = EditorIdentity.Of(path, Machine);
        Assert.Equal((editorId, name, path), (identity.EditorId, identity.ProjectName, identity.ProjectPath));
    }

    [Fact]
    public void A_link_to_a_project_is_the_project()
    {
        var folder = Directory.CreateTempSubdirectory("identity-é-").FullName;
        try
        {
            var project = Directory.CreateDirectory(Path.Combine(folder, "Real Game")).FullName;
            var link = Path.Combine(folder, "link");
            Directory.CreateSymbolicLink(link, project);
            var real = EditorIdentity.Of(project, Machine);
            var linked = EditorIdentity.Of(link, Machine);
            Assert.Equal("real-game@", real.EditorId[..10]);
            Assert.Equal((real.EditorId, project), (linked.EditorId, linked.ProjectPath));
            Assert.Equal("Real Game", linked.ProjectName);
            Assert.Equal(project, EditorIdentity.Of(project + "/", Machine).ProjectPath);
            Assert.NotEqual(real.EditorId, EditorIdentity.Of(project, "another").EditorId);
        }
        finally
        {
            Directory.Delete(folder, true);
        }
    }
}
