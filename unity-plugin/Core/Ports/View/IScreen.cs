#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    public enum ImageFormat
    {
        Png,
        Jpg,
    }

    /// <summary>Colours without transparency, row by row from the top, three bytes each.</summary>
    public sealed class PixelImage
    {
        public PixelImage(int width, int height, byte[] rgb)
        {
            Width = width;
            Height = height;
            Rgb = rgb;
        }

        public int Width { get; }

        public int Height { get; }

        public byte[] Rgb { get; }
    }

    /// <summary>What the Editor shows. Main thread only.</summary>
    public interface IScreen
    {
        /// <summary>False for an Editor that was started without a graphics device.</summary>
        bool HasGraphics { get; }

        /// <summary>Titles of the open windows.</summary>
        IReadOnlyList<string> Windows();

        /// <summary>What the Game view shows, else what the cameras see; null when no camera is active either.</summary>
        PixelImage? Game();

        /// <summary>What the last used Scene view's camera sees; null when none is open.</summary>
        PixelImage? Scene();

        /// <summary>A window, which is brought to the front of its tabs; null when it cannot be read.</summary>
        PixelImage? Window(string title);

        byte[] Encode(PixelImage image, ImageFormat format);
    }
}
