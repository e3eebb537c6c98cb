#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;
using UnityEngine.Experimental.Rendering;
using UnityEngine.Rendering;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Pictures of what the Editor shows. Main thread only.</summary>
    internal sealed class UnityScreen : IScreen
    {
        private const int JpgQuality = 80;

        /// <summary>Of a picture of the cameras, where no Game view gives a size.</summary>
        private const int Width = 1280;
        private const int Height = 720;

        public bool HasGraphics => SystemInfo.graphicsDeviceType != GraphicsDeviceType.Null;

        public IReadOnlyList<string> Windows() =>
            Open().Select(TitleOf).Where(title => title.Length > 0).Distinct().ToList();

        public PixelImage? Game()
        {
            var view = WindowPixels.GameView();
            if (view == null) return Cameras();
            WindowPixels.BringToFront(view);
            var shown = WindowPixels.TargetOf(view);
            return shown == null ? Cameras() : WindowPixels.Read(shown, SystemInfo.graphicsUVStartsAtTop);
        }

        public PixelImage? Scene()
        {
            var view = SceneView.lastActiveSceneView;
            if (view == null || view.camera == null) return null;
            var scale = EditorGUIUtility.pixelsPerPoint;
            return Rendered(
                new[] { view.camera },
                Math.Max(1, (int)(view.position.width * scale)),
                Math.Max(1, (int)(view.position.height * scale)));
        }

        public PixelImage? Window(string title)
        {
            var window = Open().FirstOrDefault(one => TitleOf(one) == title);
            if (window == null) return null;
            WindowPixels.BringToFront(window);
            return WindowPixels.Of(window);
        }

        public byte[] Encode(PixelImage image, ImageFormat format)
        {
            var rows = WindowPixels.Flipped(image.Rgb, image.Width * 3);
            var (width, height) = ((uint)image.Width, (uint)image.Height);
            return format == ImageFormat.Png
                ? ImageConversion.EncodeArrayToPNG(rows, GraphicsFormat.R8G8B8_SRGB, width, height)
                : ImageConversion.EncodeArrayToJPG(rows, GraphicsFormat.R8G8B8_SRGB, width, height, 0, JpgQuality);
        }

        private static IEnumerable<EditorWindow> Open() => Resources.FindObjectsOfTypeAll<EditorWindow>();

        private static string TitleOf(EditorWindow window) => window.titleContent?.text ?? "";

        /// <summary>Without what is drawn over them by a canvas or by OnGUI.</summary>
        private static PixelImage? Cameras()
        {
            var cameras = Camera.allCameras.Where(one => one.targetTexture == null).OrderBy(one => one.depth).ToList();
            return cameras.Count == 0 ? null : Rendered(cameras, Width, Height);
        }

        private static PixelImage Rendered(IEnumerable<Camera> cameras, int width, int height)
        {
            var target = RenderTexture.GetTemporary(width, height, 24, RenderTextureFormat.ARGB32, RenderTextureReadWrite.sRGB);
            try
            {
                foreach (var camera in cameras)
                {
                    var before = camera.targetTexture;
                    camera.targetTexture = target;
                    try
                    {
                        camera.Render();
                    }
                    finally
                    {
                        // A project's own render pipeline may throw: the camera must not go on drawing into what is released.
                        camera.targetTexture = before;
                    }
                }
                return WindowPixels.Read(target, false);
            }
            finally
            {
                RenderTexture.ReleaseTemporary(target);
            }
        }
    }
}
