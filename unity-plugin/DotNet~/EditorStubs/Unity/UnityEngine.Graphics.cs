#nullable disable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.EditorStubs;
using UnityEngine.Experimental.Rendering;

namespace UnityEngine
{
    public class Time
    {
        public static int frameCount => StubEditor.Frame;
    }

    public struct LayerMask
    {
        public static string LayerToName(int layer) => layer == 0 ? "Default" : layer == 4 ? "Water" : "";
    }

    public sealed class SystemInfo
    {
        public static Rendering.GraphicsDeviceType graphicsDeviceType => StubEditor.HasGraphics
            ? Rendering.GraphicsDeviceType.Vulkan
            : Rendering.GraphicsDeviceType.Null;

        public static bool graphicsUVStartsAtTop => StubEditor.StartsAtTop;
    }

    public enum RenderTextureFormat
    {
        ARGB32 = 0,
    }

    public enum RenderTextureReadWrite
    {
        Default = 0,
        Linear = 1,
        sRGB = 2,
    }

    public enum TextureFormat
    {
        RGB24 = 3,
    }

    public class Texture : Object
    {
        public virtual int width { get; set; }

        public virtual int height { get; set; }
    }

    /// <summary>In the stub: rows of one byte each, repeated; the first one is the bottom one.</summary>
    public class RenderTexture : Texture
    {
        public static RenderTexture active { get; set; }

        internal static HashSet<RenderTexture> Taken { get; } = new HashSet<RenderTexture>();

        internal byte[] Rows { get; set; } = Array.Empty<byte>();

        internal RenderTextureReadWrite Encoding { get; private set; }

        internal static RenderTexture Of(int width, params byte[] rows) =>
            new RenderTexture { width = width, height = rows.Length, Rows = rows };

        public bool IsCreated() => true;

        public static RenderTexture GetTemporary(
            int width,
            int height,
            int depthBuffer,
            RenderTextureFormat format,
            RenderTextureReadWrite readWrite)
        {
            var made = Of(width, new byte[height]);
            made.Encoding = readWrite;
            Taken.Add(made);
            return made;
        }

        public static void ReleaseTemporary(RenderTexture temp) => Taken.Remove(temp);
    }

    public sealed class Texture2D : Texture
    {
        private byte[] raw = Array.Empty<byte>();

        public Texture2D(int width, int height, TextureFormat textureFormat, bool mipChain)
        {
            this.width = width;
            this.height = height;
        }

        public void ReadPixels(Rect source, int destX, int destY) =>
            raw = RenderTexture.active.Rows.SelectMany(row => Enumerable.Repeat(row, width * 3)).ToArray();

        public byte[] GetRawTextureData() => raw;
    }

    public sealed class Camera : Behaviour
    {
        public static Camera[] allCameras => StubEditor.Cameras.ToArray();

        internal byte[] Sees { get; set; } = { 1, 2 };

        public RenderTexture targetTexture { get; set; }

        public float depth { get; set; }

        public void Render() => targetTexture.Rows = Sees.Concat(targetTexture.Rows.Skip(Sees.Length)).ToArray();
    }

    public static class ImageConversion
    {
        public static byte[] EncodeArrayToPNG(Array array, GraphicsFormat format, uint width, uint height, uint rowBytes = 0) =>
            new byte[] { 0x89 }.Concat((byte[])array).ToArray();

        public static byte[] EncodeArrayToJPG(
            Array array,
            GraphicsFormat format,
            uint width,
            uint height,
            uint rowBytes = 0,
            int quality = 75) => new[] { (byte)0xff, (byte)quality }.Concat((byte[])array).ToArray();
    }
}

namespace UnityEngine.Rendering
{
    public enum GraphicsDeviceType
    {
        Null = 4,
        Vulkan = 21,
    }
}

namespace UnityEngine.Experimental.Rendering
{
    public enum GraphicsFormat
    {
        R8G8B8_SRGB = 3,
    }
}
