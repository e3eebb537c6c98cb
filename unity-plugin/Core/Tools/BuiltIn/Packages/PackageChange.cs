#nullable enable
using System;
using System.Linq;
using System.Threading;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>What is known of one change of packages; kept over domain reloads, which such a change often causes.</summary>
    internal sealed class PackageState
    {
        public PackageAction Action { get; set; }

        /// <summary>What the Package Manager was asked for: an id, or the name of what goes.</summary>
        public string Asked { get; set; } = "";

        /// <summary>Empty while only the package itself knows it.</summary>
        public string Name { get; set; } = "";

        /// <summary>The version that it must have in the end; null for any.</summary>
        public string? Version { get; set; }

        /// <summary>The version before; null where there was none.</summary>
        public string? Before { get; set; }

        public bool RequestEnded { get; set; }

        /// <summary>True when the Package Manager has said that it is done.</summary>
        public bool IsConfirmed { get; set; }

        /// <summary>In milliseconds since the Unix epoch: the domain's own clock does not outlive a reload.</summary>
        public long DeadlineAt { get; set; }
    }

    /// <summary>
    /// Follows a request to the Package Manager until the Editor has registered what it changed: the request ends first, then
    /// files are imported, scripts compiled and the domain reloaded. Never asks twice. Main thread only.
    /// </summary>
    internal sealed class PackageChange
    {
        private const long DeadlineMs = 20 * 60_000;

        /// <summary>An Editor at rest for so long registers nothing any more.</summary>
        private const long RestMs = 60_000;

        private const string WhereToLook = "See list-packages and Packages/manifest.json before you call again.";

        private readonly ToolServices services;
        private readonly ToolContext context;
        private readonly PackageState state;
        private PackageRequest? ended;

        private PackageChange(ToolServices services, ToolContext context, PackageState state)
        {
            this.services = services;
            this.context = context;
            this.state = state;
        }

        public PackageState State => state;

        /// <summary>Asks the Package Manager. Throws what it refuses at once.</summary>
        public static PackageChange Begin(ToolServices services, ToolContext context, PackageState state)
        {
            state.DeadlineAt = services.Clock.NowMs + DeadlineMs;
            var change = new PackageChange(services, context, state);
            change.Remember();
            if (state.Action == PackageAction.Remove) services.Packages.BeginRemove(state.Asked);
            else services.Packages.BeginAdd(state.Asked);
            return change;
        }

        /// <summary>The change after a domain reload; throws domain_reload where nothing is known of it.</summary>
        public static PackageChange Resumed(ToolServices services, ToolContext context, JToken? resumeRecord)
        {
            var state = ToolJson.Read<PackageState>(resumeRecord);
            if (state != null && state.Asked.Length > 0) return new PackageChange(services, context, state);
            throw new ToolException(
                ToolException.DomainReload, $"A domain reload came before the Package Manager was asked. {WhereToLook}");
        }

        /// <summary>The URL, path or version that an installed package's id ends with; null where it has none.</summary>
        public static string? OriginOf(InstalledPackage one) => one.Id.StartsWith(one.Name + "@", StringComparison.Ordinal)
            ? one.Id.Substring(one.Name.Length + 1)
            : null;

        /// <summary>
        /// The package as it is registered now; null when it was removed. Throws package_failed for what the Package Manager
        /// refused, outcome_unknown when it cannot be known.
        /// </summary>
        public async Task<InstalledPackage?> EndAsync()
        {
            if (!state.RequestEnded)
            {
                context.Progress.Report(0, 2, "The Package Manager is at work");
                if (!await WhenAsync(HasEnded)) throw Unknown("The Package Manager has not answered in time.");
                if (ended!.State == PackageRequestState.Failed) throw Failed(ended.Message);
            }
            context.Progress.Report(1, 2, "Unity imports and compiles");
            var rest = new EditorRest(services);
            var isOver = await WhenAsync(() => rest.Look() && (IsTrue() || rest.RestedMs > RestMs));
            if (isOver && IsTrue()) return Found();
            throw Unknown(state.IsConfirmed
                ? "The Package Manager has made the change, but Unity has not registered it."
                : "A domain reload came before the Package Manager answered.");
        }

        private Task<bool> WhenAsync(Func<bool> condition) => services.Ticks.WhenAsync(
            condition, Math.Max(0, state.DeadlineAt - services.Clock.NowMs), CancellationToken.None);

        /// <summary>What it says goes into the record at once: a reload may come before the next frame.</summary>
        private bool HasEnded()
        {
            var request = services.Packages.Poll();
            if (request.State == PackageRequestState.Running) return false;
            ended = request;
            state.RequestEnded = request.State != PackageRequestState.Failed;
            state.IsConfirmed = request.State == PackageRequestState.Succeeded;
            if (request.Name.Length > 0)
            {
                state.Name = request.Name;
                state.Version = request.Version;
            }
            Remember();
            return true;
        }

        private bool IsTrue()
        {
            var found = Found();
            if (state.Action == PackageAction.Remove) return found == null;
            if (found == null) return false;
            if (state.Version != null) return found.Version == state.Version;
            // What was there before says nothing; found by what was asked for, it was not.
            return state.IsConfirmed || found.Version != state.Before;
        }

        private InstalledPackage? Found() => services.Packages.Installed().FirstOrDefault(one =>
            one.IsDirect && (state.Name.Length > 0 ? one.Name == state.Name : OriginOf(one) == state.Asked));

        private void Remember() => context.SaveResumeRecord(ToolJson.From(state));

        private ToolException Failed(string reason) => new ToolException(
            "package_failed", $"The Package Manager refused: {reason.TrimEnd('.')}. No package was changed. Correct Package, then call again.");

        private static ToolException Unknown(string why) =>
            new ToolException(ToolException.OutcomeUnknown, $"{why} {WhereToLook}");
    }
}
