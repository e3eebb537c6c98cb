#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum CapturedView
    {
        Game,
        Scene,
        Window,
    }

    public sealed class CaptureScreenshotSchema
    {
        [Description("Window takes the one of WindowTitle")]
        public CapturedView View { get; set; } = CapturedView.Game;

        [Description("For example Inspector")]
        public string WindowTitle { get; set; } = "";

        [Description("Wider pictures are made smaller")]
        [ParameterRange(Minimum = 64, Maximum = 4096)]
        public int MaxWidth { get; set; } = 1280;
    }

    /// <summary>A picture as MCP has it: a client shows it.</summary>
    public sealed class ImageContent
    {
        [JsonProperty("type")]
        public string Type => "image";

        [JsonProperty("mimeType")]
        public string MimeType { get; set; } = "";

        /// <summary>In Base64.</summary>
        [JsonProperty("data")]
        public string Data { get; set; } = "";
    }

    public sealed class CaptureScreenshotResponse
    {
        public CapturedView View { get; set; }

        public int Width { get; set; }

        public int Height { get; set; }

        [JsonProperty("content")]
        public IReadOnlyList<ImageContent> Content { get; set; } = Array.Empty<ImageContent>();
    }

    /// <summary>Answers a picture of what the Editor shows. It brings a window to the front of its tabs, and changes nothing else.</summary>
    [McpTool(
        Name = "capture-screenshot",
        Description = "Takes a picture of the Game view, the Scene view or a window of the Editor.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class CaptureScreenshotTool : AbstractUnityTool<CaptureScreenshotSchema, CaptureScreenshotResponse>
    {
        private readonly IScreen screen;

        public CaptureScreenshotTool(ToolServices services)
        {
            screen = services.Screen;
        }

        protected override Task<CaptureScreenshotResponse> ExecuteAsync(CaptureScreenshotSchema parameters, ToolContext context)
        {
            if (!screen.HasGraphics)
            {
                throw new ToolException(
                    "no_graphics",
                    "This Editor was started without graphics (-nographics) and shows nothing. Start it without that argument.");
            }
            var encoded = EncodedImage.Of(Taken(parameters), parameters.MaxWidth, screen.Encode);
            return Task.FromResult(new CaptureScreenshotResponse
            {
                View = parameters.View,
                Width = encoded.Image.Width,
                Height = encoded.Image.Height,
                Content = new[]
                {
                    new ImageContent
                    {
                        MimeType = encoded.Format == ImageFormat.Png ? "image/png" : "image/jpeg",
                        Data = Convert.ToBase64String(encoded.Bytes),
                    },
                },
            });
        }

        private PixelImage Taken(CaptureScreenshotSchema parameters)
        {
            switch (parameters.View)
            {
                case CapturedView.Game:
                    return screen.Game() ?? throw new ToolException(
                        "nothing_to_capture",
                        "No Game view is open, and no camera of the open scenes is active.");
                case CapturedView.Scene:
                    return screen.Scene() ?? throw new ToolException(
                        "nothing_to_capture",
                        "No Scene view is open. Open one with execute-menu-item, MenuItemPath Window/General/Scene.");
                default:
                    return Window(parameters.WindowTitle);
            }
        }

        private PixelImage Window(string wanted)
        {
            if (wanted.Length == 0)
            {
                throw new ToolException(ToolException.InvalidArguments, "WindowTitle is required when View is Window. " + Open());
            }
            const StringComparison anyCase = StringComparison.OrdinalIgnoreCase;
            var title = screen.Windows().FirstOrDefault(one => string.Equals(one, wanted, anyCase));
            if (title == null) throw new ToolException("window_not_found", $"No window {wanted} is open. {Open()}");
            return screen.Window(title) ?? throw new ToolException(
                "nothing_to_capture",
                $"The window {title} cannot be read in this Editor.");
        }

        private string Open()
        {
            var titles = screen.Windows();
            return titles.Count == 0 ? "No window is open." : $"Open are {string.Join(", ", titles)}.";
        }
    }
}
