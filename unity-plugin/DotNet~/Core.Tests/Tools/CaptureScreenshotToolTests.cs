using System;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tests.Tools.InMemory;
using JobBroker.Bridge.Tools.BuiltIn;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public sealed class CaptureScreenshotToolTests : IDisposable
{
    private readonly InMemoryEditor editor = new();

    public void Dispose() => editor.Dispose();

    private CaptureScreenshotTool Tool => new(editor.Services);

    [Fact]
    public async Task It_answers_a_picture_that_a_client_shows()
    {
        var answer = await new ToolCall().Run(Tool);
        Assert.Equal(("Game", 4, 2), ((string?)answer["View"], (int)answer["Width"]!, (int)answer["Height"]!));
        var block = Assert.Single(answer["content"]!);
        Assert.Equal(("image", "image/png"), ((string?)block["type"], (string?)block["mimeType"]));
        Assert.Equal(3, Convert.FromBase64String((string)block["data"]!).Length);
        await new ToolCall().Run(Tool, new { View = "Scene" });
        await new ToolCall().Run(Tool, new { View = "Window", WindowTitle = "inspector" });
        Assert.Equal(new[] { "game", "scene", "Inspector" }, editor.Screen.Taken);
    }

    [Fact]
    public async Task Without_a_graphics_device_it_is_refused_plainly()
    {
        editor.Screen.HasGraphics = false;
        var error = await ToolCall.Fails(Tool);
        Assert.Equal("no_graphics", error.Type);
        Assert.Contains("-nographics", error.Message);
        Assert.Empty(editor.Screen.Taken);
    }

    [Fact]
    public async Task What_is_not_open_is_said_with_what_is()
    {
        Assert.Equal("invalid_arguments", (await ToolCall.Fails(Tool, new { View = "Window" })).Type);
        var unknown = await ToolCall.Fails(Tool, new { View = "Window", WindowTitle = "Profiler" });
        Assert.Equal("window_not_found", unknown.Type);
        Assert.Contains("Inspector, Project", unknown.Message);
        editor.Screen.Shown = null;
        foreach (var view in new[] { "Game", "Scene" })
        {
            Assert.Equal("nothing_to_capture", (await ToolCall.Fails(Tool, new { View = view })).Type);
        }
    }

    [Fact]
    public void A_wide_picture_is_made_smaller_by_means()
    {
        var image = new PixelImage(4, 2, Enumerable.Range(0, 8).SelectMany(one => new[] { (byte)(one * 10), (byte)0, (byte)255 }).ToArray());
        var half = EncodedImage.Scaled(image, 2);
        Assert.Equal((2, 1), (half.Width, half.Height));
        // The left half has 0, 10 and, below, 40, 50.
        Assert.Equal(new byte[] { 25, 0, 255, 45, 0, 255 }, half.Rgb);
    }

    [Fact]
    public void A_picture_that_no_answer_could_carry_becomes_a_smaller_one()
    {
        var image = new PixelImage(2000, 10, new byte[2000 * 10 * 3]);
        int Bytes(PixelImage one, ImageFormat format) => one.Width * (format == ImageFormat.Png ? 900 : 700);
        var encoded = EncodedImage.Of(image, 4096, (one, format) => new byte[Bytes(one, format)]);
        Assert.Equal(ImageFormat.Jpg, encoded.Format);
        Assert.InRange(encoded.Bytes.Length, 1, EncodedImage.MostBytes);
        Assert.InRange(encoded.Image.Width, 750, 1100);
        Assert.Equal(ImageFormat.Png, EncodedImage.Of(image, 800, (one, format) => new byte[Bytes(one, format)]).Format);
    }
}
