#nullable enable
using System;
using System.Reflection;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// The pixels of the Editor's windows. Unity keeps what is needed for them to itself, in the same form from 2021.3 to
    /// 6000.5: where it is not found, a window cannot be read. Main thread only.
    /// </summary>
    internal static class WindowPixels
    {
        private const BindingFlags Anything = BindingFlags.Static | BindingFlags.Instance | BindingFlags.Public
            | BindingFlags.NonPublic | BindingFlags.FlattenHierarchy;

        /// <summary>The Game view or Simulator that is shown in play mode; null when none is open.</summary>
        public static EditorWindow? GameView()
        {
            var views = typeof(EditorWindow).Assembly.GetType("UnityEditor.PlayModeView");
            var view = views?.GetMethod("GetMainPlayModeView", Anything, null, Type.EmptyTypes, null)?.Invoke(null, null);
            return view as EditorWindow;
        }

        /// <summary>What a Game view draws its picture into; null before its first one.</summary>
        public static RenderTexture? TargetOf(EditorWindow gameView)
        {
            for (Type? type = gameView.GetType(); type != null; type = type.BaseType)
            {
                var field = type.GetField("m_TargetTexture", Anything | BindingFlags.DeclaredOnly);
                if (field?.GetValue(gameView) is RenderTexture target && target != null && target.IsCreated()) return target;
            }
            return null;
        }

        /// <summary>In front of the other tabs of its place, with what it shows at this moment.</summary>
        public static void BringToFront(EditorWindow window)
        {
            window.ShowTab();
            typeof(EditorWindow).GetMethod("RepaintImmediately", Anything, null, Type.EmptyTypes, null)?.Invoke(window, null);
        }

        /// <summary>Null where Unity does not let it be read.</summary>
        public static PixelImage? Of(EditorWindow window)
        {
            var host = typeof(EditorWindow).GetField("m_Parent", Anything)?.GetValue(window);
            var (points, scale) = (window.position, EditorGUIUtility.pixelsPerPoint);
            var (width, height) = ((int)(points.width * scale), (int)(points.height * scale));
            var grab = host?.GetType().GetMethod("GrabPixels", Anything, null, new[] { typeof(RenderTexture), typeof(Rect) }, null);
            if (grab == null || width < 1 || height < 1) return null;
            // What is grabbed is encoded for the screen already.
            var target = RenderTexture.GetTemporary(width, height, 24, RenderTextureFormat.ARGB32, RenderTextureReadWrite.Linear);
            try
            {
                grab.Invoke(host, new object[] { target, new Rect(0, 0, points.width, points.height) });
                return Read(target, SystemInfo.graphicsUVStartsAtTop);
            }
            finally
            {
                RenderTexture.ReleaseTemporary(target);
            }
        }

        /// <param name="fromTop">Its first row is the top one; Unity's own textures begin at the bottom.</param>
        public static PixelImage Read(RenderTexture source, bool fromTop)
        {
            var before = RenderTexture.active;
            var pixels = new Texture2D(source.width, source.height, TextureFormat.RGB24, false);
            try
            {
                RenderTexture.active = source;
                pixels.ReadPixels(new Rect(0, 0, source.width, source.height), 0, 0);
                var rgb = pixels.GetRawTextureData();
                return new PixelImage(source.width, source.height, fromTop ? rgb : Flipped(rgb, source.width * 3));
            }
            finally
            {
                RenderTexture.active = before;
                UnityEngine.Object.DestroyImmediate(pixels);
            }
        }

        public static byte[] Flipped(byte[] rows, int rowBytes)
        {
            var flipped = new byte[rows.Length];
            for (int from = 0, to = rows.Length - rowBytes; to >= 0; from += rowBytes, to -= rowBytes)
            {
                Buffer.BlockCopy(rows, from, flipped, to, rowBytes);
            }
            return flipped;
        }
    }
}
