#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum EditorStatePart
    {
        Scenes,
        Selection,
        PlayMode,
        Packages,
        Tags,
        Layers,
        BuildTarget,
    }

    public sealed class GetEditorStateSchema
    {
        [Description("What to read beside version and phase")]
        public EditorStatePart[] Parts { get; set; } =
        {
            EditorStatePart.Scenes, EditorStatePart.Selection, EditorStatePart.PlayMode,
        };
    }

    public sealed class NamedLayer
    {
        public int Layer { get; set; }

        public string Name { get; set; } = "";
    }

    /// <summary>A package that the project itself asks for.</summary>
    public sealed class NamedPackage
    {
        public string Name { get; set; } = "";

        public string Version { get; set; } = "";

        public string Source { get; set; } = "";
    }

    public sealed class BuildTargetState
    {
        public string Active { get; set; } = "";

        /// <summary>What this Editor can build for.</summary>
        public IReadOnlyList<string> Supported { get; set; } = Array.Empty<string>();
    }

    public sealed class PlayModeReport
    {
        public PlayModePhase State { get; set; }

        public int? Frame { get; set; }
    }

    public sealed class GetEditorStateResponse
    {
        public string UnityVersion { get; set; } = "";

        public string ProjectPath { get; set; } = "";

        /// <summary>ready, compiling, importing, testing, building, playing or compile_errors.</summary>
        public string Phase { get; set; } = "";

        public IReadOnlyList<OpenScene>? Scenes { get; set; }

        /// <summary>The prefab that is open for editing: it covers the scenes.</summary>
        public string? OpenPrefab { get; set; }

        /// <summary>How many are selected, listed or not.</summary>
        public int? SelectedCount { get; set; }

        public IReadOnlyList<SelectedObject>? Selection { get; set; }

        public PlayModeReport? PlayMode { get; set; }

        public IReadOnlyList<NamedPackage>? Packages { get; set; }

        public IReadOnlyList<string>? Tags { get; set; }

        public IReadOnlyList<NamedLayer>? Layers { get; set; }

        public BuildTargetState? BuildTarget { get; set; }
    }

    /// <summary>Reads what a person sees at a glance in the Editor.</summary>
    [McpTool(
        Name = "get-editor-state",
        Description = "Reads the Editor's state: open scenes, selection, play mode, packages, tags, layers, build target.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class GetEditorStateTool : AbstractUnityTool<GetEditorStateSchema, GetEditorStateResponse>
    {
        /// <summary>A person may have selected everything.</summary>
        private const int MostSelected = 50;

        private readonly ToolServices services;

        public GetEditorStateTool(ToolServices services)
        {
            this.services = services;
        }

        protected override Task<GetEditorStateResponse> ExecuteAsync(GetEditorStateSchema parameters, ToolContext context)
        {
            var answer = new GetEditorStateResponse
            {
                UnityVersion = services.Editor.UnityVersion,
                ProjectPath = services.Editor.ProjectPath,
                Phase = services.Editor.Phase,
            };
            foreach (var part in parameters.Parts.Distinct()) Add(part, answer);
            return Task.FromResult(answer);
        }

        private void Add(EditorStatePart part, GetEditorStateResponse answer)
        {
            switch (part)
            {
                case EditorStatePart.Scenes:
                    answer.Scenes = services.State.Scenes();
                    answer.OpenPrefab = services.State.OpenPrefab;
                    break;
                case EditorStatePart.Selection:
                    var selected = services.State.Selected();
                    answer.SelectedCount = selected.Count;
                    answer.Selection = selected.Take(MostSelected).ToList();
                    break;
                case EditorStatePart.PlayMode:
                    var state = services.PlayMode.State;
                    answer.PlayMode = new PlayModeReport
                    {
                        State = state.Phase,
                        Frame = state.IsPlaying ? state.Frame : (int?)null,
                    };
                    break;
                case EditorStatePart.Packages:
                    answer.Packages = services.Packages.Installed()
                        .Where(one => one.IsDirect)
                        .Select(one => new NamedPackage { Name = one.Name, Version = one.Version, Source = one.Source })
                        .ToList();
                    break;
                case EditorStatePart.Tags:
                    answer.Tags = services.State.Tags();
                    break;
                case EditorStatePart.Layers:
                    answer.Layers = services.State.Layers()
                        .Select((name, layer) => new NamedLayer { Layer = layer, Name = name })
                        .Where(one => one.Name.Length > 0)
                        .ToList();
                    break;
                case EditorStatePart.BuildTarget:
                    answer.BuildTarget = new BuildTargetState
                    {
                        Active = services.Builds.ActiveTarget,
                        Supported = services.Builds.SupportedTargets,
                    };
                    break;
            }
        }
    }
}
