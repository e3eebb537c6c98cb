#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum PlayModeAction
    {
        Enter,
        Exit,
        Pause,
        Resume,
        Step,
        State,
    }

    public sealed class ControlPlayModeSchema
    {
        [Description("State only reads")]
        [RequiredParameter]
        public PlayModeAction Action { get; set; }

        [Description("Step plays up to this frame, and pauses")]
        [ParameterRange(Minimum = 1)]
        public int? ToFrame { get; set; }
    }

    public sealed class ControlPlayModeResponse
    {
        public PlayModePhase State { get; set; }

        /// <summary>False when the Editor was there already.</summary>
        public bool Changed { get; set; }

        /// <summary>Frames played so far; null outside of play mode.</summary>
        public int? Frame { get; set; }

        /// <summary>Scenes with unsaved changes as play mode begins; null when there are none.</summary>
        public IReadOnlyList<string>? UnsavedScenes { get; set; }
    }

    /// <summary>
    /// Controls play mode. Entering it reloads the script domain unless the project has that switched off: the call goes on
    /// behind it, and ends when Unity has arrived. Each action names a state, also a step its frame: a second run finds it.
    /// </summary>
    [McpTool(
        Name = ToolName,
        Description = "Enters, leaves, pauses or steps play mode, and ends when Unity is there.",
        Effect = ToolEffect.Idempotent,
        BeginsWhileBusy = true,
        ExecutionClass = ExecutionClass.Medium,
        RequiredSecuritySetting = SecuritySetting.PlayModeControl)]
    public sealed class ControlPlayModeTool : AbstractUnityTool<ControlPlayModeSchema, ControlPlayModeResponse>, IResumableTool
    {
        public const string ToolName = "control-play-mode";

        private const int MostFrames = 1000;

        /// <summary>How long Unity may take before it begins what it was asked for; an unfocused Editor ticks at 1 Hz.</summary>
        private const int QuietMs = 5000;

        private const int QuietTicks = 3;

        /// <summary>A project may import for long before it plays.</summary>
        private const int MostMs = 30 * 60 * 1000;

        private const string AskedKey = "asked";
        private const string UnsavedKey = "unsaved";

        private readonly ToolServices services;

        public ControlPlayModeTool(ToolServices services)
        {
            this.services = services;
        }

        /// <summary>True for arguments that change nothing whatever binding makes of them: their only Action is State.</summary>
        internal static bool OnlyReads(JObject arguments)
        {
            const StringComparison anyCase = StringComparison.OrdinalIgnoreCase;
            var actions = arguments.Properties()
                .Where(one => string.Equals(one.Name, nameof(ControlPlayModeSchema.Action), anyCase))
                .ToList();
            return actions.Count == 1 && actions[0].Value.Type == JTokenType.String
                && (string?)actions[0].Value == nameof(PlayModeAction.State);
        }

        public async Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context)
        {
            var action = Bind(arguments).Action;
            if (action != PlayModeAction.Enter && action != PlayModeAction.Exit)
            {
                throw new ToolException(
                    ToolException.DomainReload,
                    "A domain reload came between; Action State tells what became of it.");
            }
            var wantsPlay = action == PlayModeAction.Enter;
            // Before it was asked for anything, the call waited for a change of somebody else's.
            var isAsked = (bool?)(resumeRecord as JObject)?[AskedKey] ?? false;
            var unsaved = (resumeRecord as JObject)?[UnsavedKey]?.ToObject<List<string>>();
            return ToolJson.From(isAsked ? await Arrive(wantsPlay, unsaved) : await Switch(wantsPlay, context));
        }

        protected override Task<ControlPlayModeResponse> ExecuteAsync(ControlPlayModeSchema parameters, ToolContext context)
        {
            switch (parameters.Action)
            {
                case PlayModeAction.Enter:
                    return Switch(true, context);
                case PlayModeAction.Exit:
                    return Switch(false, context);
                case PlayModeAction.Pause:
                    return Pause(true);
                case PlayModeAction.Resume:
                    return Pause(false);
                case PlayModeAction.Step:
                    return Step(parameters.ToFrame);
                default:
                    return Task.FromResult(Answer(false));
            }
        }

        private async Task<ControlPlayModeResponse> Switch(bool wantsPlay, ToolContext context)
        {
            await Until(state => !state.IsChanging);
            if (services.PlayMode.State.IsPlaying == wantsPlay) return Answer(false);
            List<string>? unsaved = null;
            if (wantsPlay)
            {
                RefuseUnlessCompiled();
                unsaved = services.State.Scenes().Where(scene => scene.IsDirty).Select(NameOf).ToList();
                if (unsaved.Count == 0) unsaved = null;
            }
            context.SaveResumeRecord(new JObject
            {
                [AskedKey] = true,
                [UnsavedKey] = unsaved == null ? null : new JArray(unsaved),
            });
            context.Progress.Report(0, 1, wantsPlay ? "Entering play mode" : "Leaving play mode");
            if (wantsPlay) services.PlayMode.Enter();
            else services.PlayMode.Exit();
            return await Arrive(wantsPlay, unsaved);
        }

        private async Task<ControlPlayModeResponse> Arrive(bool wantsPlay, IReadOnlyList<string>? unsaved)
        {
            if (!await WaitAsync(state => state.Is(wantsPlay)))
            {
                var what = wantsPlay ? "enter" : "leave";
                throw new ToolException("play_mode_refused", $"Unity did not {what} play mode; get-logs may say why.");
            }
            var answer = Answer(true);
            answer.UnsavedScenes = unsaved;
            return answer;
        }

        private async Task<ControlPlayModeResponse> Pause(bool wanted)
        {
            var target = wanted ? PlayModePhase.Paused : PlayModePhase.Playing;
            await RefuseOutside(wanted ? "paused" : "resumed");
            var changes = services.PlayMode.State.Phase != target;
            if (changes) services.PlayMode.Pause(wanted);
            await Until(state => state.Phase == target);
            return Answer(changes);
        }

        private async Task<ControlPlayModeResponse> Step(int? wanted)
        {
            await RefuseOutside("stepped");
            var first = services.PlayMode.State.Frame;
            var toFrame = wanted ?? throw Unfit($"Step needs ToFrame, the frame to play up to; it is frame {first}.");
            if (toFrame - first > MostFrames) throw Unfit($"ToFrame is at most {MostFrames} frames from here; it is frame {first}.");
            for (var frame = first; frame < toFrame; frame = services.PlayMode.State.Frame)
            {
                services.PlayMode.Step();
                var before = frame;
                await Until(state => state.Phase == PlayModePhase.Paused && state.Frame > before);
            }
            if (first >= toFrame) return await Pause(true);
            return Answer(true);
        }

        private static ToolException Unfit(string message) => new ToolException(ToolException.InvalidArguments, message);

        private void RefuseUnlessCompiled()
        {
            if (services.Editor.Phase != "compile_errors") return;
            throw new ToolException(
                "compile_errors",
                "The scripts do not compile, so Unity cannot enter play mode: fix them; compile tells the errors.");
        }

        private async Task RefuseOutside(string what)
        {
            await Until(state => !state.IsChanging);
            if (services.PlayMode.State.IsPlaying) return;
            throw new ToolException("not_playing", $"Only play mode can be {what}; Action Enter begins it.");
        }

        private async Task Until(Func<PlayModeState, bool> isAsWanted)
        {
            if (await WaitAsync(isAsWanted)) return;
            throw new ToolException(
                "play_mode_refused",
                $"Unity stays in the state {services.PlayMode.State.Phase}; a person may have changed it meanwhile.");
        }

        /// <summary>False when the state stays otherwise although Unity changes nothing any more.</summary>
        private async Task<bool> WaitAsync(Func<PlayModeState, bool> isAsWanted)
        {
            if (isAsWanted(services.PlayMode.State)) return true;
            var (ticks, since) = (0, services.Clock.ElapsedMs);
            bool IsQuiet()
            {
                if (services.PlayMode.State.IsChanging || services.Editor.Phase is "compiling" or "importing")
                {
                    (ticks, since) = (0, services.Clock.ElapsedMs);
                }
                return ++ticks > QuietTicks && services.Clock.ElapsedMs - since >= QuietMs;
            }
            await services.Ticks.WhenAsync(
                () => isAsWanted(services.PlayMode.State) || IsQuiet(), MostMs, CancellationToken.None);
            return isAsWanted(services.PlayMode.State);
        }

        private ControlPlayModeResponse Answer(bool changed)
        {
            var state = services.PlayMode.State;
            return new ControlPlayModeResponse
            {
                State = state.Phase,
                Changed = changed,
                Frame = state.IsPlaying ? state.Frame : (int?)null,
            };
        }

        private static string NameOf(OpenScene scene) => scene.Path.Length > 0 ? scene.Path : scene.Name;
    }
}
