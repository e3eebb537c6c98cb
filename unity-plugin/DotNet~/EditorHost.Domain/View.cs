using System.Buffers.Binary;
using System.IO.Compression;
using System.Text;
using JobBroker.Bridge.Ports;
using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

internal sealed class HostPlayMode(NativeEditor native, Effects effects, Action reload) : IPlayMode
{
    public PlayModeState State =>
        new(native.PlayMode.IsPlaying, native.PlayMode.WillPlay, native.PlayMode.IsPaused, native.PlayMode.Frame);

    public void Enter()
    {
        effects.Begins("control-play-mode Enter");
        native.PlayMode.Enter(reload);
    }

    public void Exit()
    {
        effects.Begins("control-play-mode Exit");
        native.PlayMode.Exit();
    }

    public void Pause(bool paused)
    {
        effects.Begins(paused ? "control-play-mode Pause" : "control-play-mode Resume");
        native.PlayMode.IsPaused = paused;
    }

    public void Step()
    {
        effects.Begins("control-play-mode Step");
        native.PlayMode.Step();
    }
}

internal sealed class HostState(NativeEditor native) : IEditorState
{
    public string? OpenPrefab => null;

    public IReadOnlyList<OpenScene> Scenes() =>
    [
        new()
        {
            Name = "SampleScene",
            Path = "Assets/Scenes/SampleScene.unity",
            IsLoaded = true,
            IsDirty = native.Script.SceneIsDirty,
            IsActive = true,
        },
    ];

    public IReadOnlyList<SelectedObject> Selected() => [new() { Name = "Root0", Type = "GameObject", Path = "/Root0" }];

    public IReadOnlyList<string> Tags() => ["Untagged", "MainCamera", "Player"];

    public IReadOnlyList<string> Layers() => ["Default", "TransparentFX", "Ignore Raycast", "", "Water", "UI"];
}

/// <summary>Shows one picture in every view: colours that grow to the right and down.</summary>
internal sealed class HostScreen(NativeEditor native) : IScreen
{
    private const int Width = 320;
    private const int Height = 180;

    public bool HasGraphics => !native.CommandLine.Contains("-nographics");

    public IReadOnlyList<string> Windows() => ["Scene", "Game", "Inspector", "Hierarchy", "Project", "Console"];

    public PixelImage? Game() => Shown();

    public PixelImage? Scene() => Shown();

    public PixelImage? Window(string title) => Shown();

    public byte[] Encode(PixelImage image, ImageFormat format)
    {
        if (format != ImageFormat.Png) throw new NotSupportedException("Only PNG can be encoded here.");
        using var rows = new MemoryStream();
        using (var packed = new ZLibStream(rows, CompressionLevel.Optimal, true))
        {
            for (var y = 0; y < image.Height; y++)
            {
                packed.WriteByte(0);
                packed.Write(image.Rgb, y * image.Width * 3, image.Width * 3);
            }
        }
        using var png = new MemoryStream();
        png.Write([0x89, (byte)'P', (byte)'N', (byte)'G', 0x0d, 0x0a, 0x1a, 0x0a]);
        var header = new byte[13];
        BinaryPrimitives.WriteInt32BigEndian(header, image.Width);
        BinaryPrimitives.WriteInt32BigEndian(header.AsSpan(4), image.Height);
        header[8] = 8;
        header[9] = 2;
        Chunk(png, "IHDR", header);
        Chunk(png, "IDAT", rows.ToArray());
        Chunk(png, "IEND", []);
        return png.ToArray();
    }

    private static PixelImage Shown()
    {
        var rgb = new byte[Width * Height * 3];
        for (var at = 0; at < Width * Height; at++)
        {
            rgb[at * 3] = (byte)(at % Width * 16 / Width * 17);
            rgb[at * 3 + 1] = (byte)(at / Width * 16 / Height * 17);
            rgb[at * 3 + 2] = 128;
        }
        return new PixelImage(Width, Height, rgb);
    }

    private static void Chunk(Stream png, string type, byte[] data)
    {
        var named = Encoding.ASCII.GetBytes(type).Concat(data).ToArray();
        var number = new byte[4];
        BinaryPrimitives.WriteInt32BigEndian(number, data.Length);
        png.Write(number);
        png.Write(named);
        BinaryPrimitives.WriteUInt32BigEndian(number, Crc(named));
        png.Write(number);
    }

    private static uint Crc(byte[] bytes)
    {
        var crc = uint.MaxValue;
        foreach (var one in bytes)
        {
            crc ^= one;
            for (var bit = 0; bit < 8; bit++) crc = (crc & 1) == 1 ? (crc >> 1) ^ 0xEDB88320 : crc >> 1;
        }
        return ~crc;
    }
}
