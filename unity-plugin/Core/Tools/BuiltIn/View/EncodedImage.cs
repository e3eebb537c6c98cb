#nullable enable
using System;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>An encoded picture that is small enough for an answer.</summary>
    internal sealed class EncodedImage
    {
        /// <summary>
        /// Most bytes: in Base64 they are a third more, and a client takes an answer of about a megabyte.
        /// </summary>
        public const int MostBytes = 750_000;

        private const int Smallest = 64;

        private EncodedImage(PixelImage image, ImageFormat format, byte[] bytes)
        {
            Image = image;
            Format = format;
            Bytes = bytes;
        }

        public PixelImage Image { get; }

        public ImageFormat Format { get; }

        public byte[] Bytes { get; }

        /// <summary>PNG, where it fits; else JPEG, smaller until it fits.</summary>
        public static EncodedImage Of(PixelImage image, int maxWidth, Func<PixelImage, ImageFormat, byte[]> encode)
        {
            var shown = image.Width > maxWidth ? Scaled(image, maxWidth) : image;
            var png = encode(shown, ImageFormat.Png);
            if (png.Length <= MostBytes) return new EncodedImage(shown, ImageFormat.Png, png);
            while (true)
            {
                var jpg = encode(shown, ImageFormat.Jpg);
                if (jpg.Length <= MostBytes || shown.Width <= Smallest) return new EncodedImage(shown, ImageFormat.Jpg, jpg);
                shown = Scaled(image, Math.Max(Smallest, shown.Width * 3 / 4));
            }
        }

        /// <summary>Narrower, of the same proportions: each pixel is the mean of those that it stands for.</summary>
        public static PixelImage Scaled(PixelImage image, int width)
        {
            var height = Math.Max(1, (int)Math.Round((double)image.Height * width / image.Width));
            var rgb = new byte[width * height * 3];
            for (var y = 0; y < height; y++)
            {
                var top = y * image.Height / height;
                var bottom = Math.Max(top + 1, (y + 1) * image.Height / height);
                for (var x = 0; x < width; x++)
                {
                    var left = x * image.Width / width;
                    var right = Math.Max(left + 1, (x + 1) * image.Width / width);
                    for (var colour = 0; colour < 3; colour++)
                    {
                        rgb[(y * width + x) * 3 + colour] = Mean(image, left, right, top, bottom, colour);
                    }
                }
            }
            return new PixelImage(width, height, rgb);
        }

        private static byte Mean(PixelImage image, int left, int right, int top, int bottom, int colour)
        {
            var sum = 0L;
            for (var y = top; y < bottom; y++)
            {
                for (var x = left; x < right; x++) sum += image.Rgb[(y * image.Width + x) * 3 + colour];
            }
            return (byte)(sum / ((right - left) * (bottom - top)));
        }
    }
}
