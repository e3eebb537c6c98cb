#nullable enable
using System;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum PackageAction
    {
        Add,
        Remove,
        Update,
    }

    public sealed class ManagePackagesSchema
    {
        [Description("What to do")]
        [RequiredParameter]
        public PackageAction Action { get; set; }

        [Description("Name, or name@version; Add also takes a git URL or file: path, whose code then runs in the Editor")]
        [RequiredParameter]
        public string Package { get; set; } = "";
    }

    public sealed class ManagePackagesResponse
    {
        public bool Success { get; set; }

        public PackageAction Action { get; set; }

        public string Package { get; set; } = "";

        /// <summary>Null when it was removed.</summary>
        public string? Version { get; set; }

        /// <summary>Null when it was not installed.</summary>
        public string? PreviousVersion { get; set; }

        /// <summary>Unity's word for where it comes from; null when it was removed.</summary>
        public string? Source { get; set; }

        public bool Changed { get; set; }

        /// <summary>Always false: Unity's Undo does not know packages.</summary>
        public bool Undo { get; set; }

        /// <summary>Null when the rest says it all.</summary>
        public string? Message { get; set; }
    }

    /// <summary>
    /// Changes the project's packages; ends when the Editor has registered, imported and compiled them, behind the domain
    /// reload that this makes.
    /// </summary>
    [McpTool(
        Name = "manage-packages",
        Description = "Adds, removes or updates a package of the project; ends when Unity has compiled it.",
        Effect = ToolEffect.Mutating,
        Destructive = true,
        OpenWorld = true,
        ExecutionClass = ExecutionClass.Long,
        RequiredSecuritySetting = SecuritySetting.PackageManagement)]
    public sealed class ManagePackagesTool : AbstractUnityTool<ManagePackagesSchema, ManagePackagesResponse>, IResumableTool
    {
        private readonly ToolServices services;

        public ManagePackagesTool(ToolServices services)
        {
            this.services = services;
        }

        public async Task<object?> ResumeAsync(JObject arguments, JToken? resumeRecord, ToolContext context) =>
            ToolJson.From(await Ended(PackageChange.Resumed(services, context, resumeRecord)));

        protected override async Task<ManagePackagesResponse> ExecuteAsync(ManagePackagesSchema parameters, ToolContext context)
        {
            var state = Wanted(parameters, out var present);
            if (state == null) return Unchanged(parameters.Action, present!);
            EditorRest.RefuseInPlayMode(services);
            return await Ended(PackageChange.Begin(services, context, state));
        }

        /// <summary>What to ask the Package Manager for; null when it is so already.</summary>
        private PackageState? Wanted(ManagePackagesSchema parameters, out InstalledPackage? present)
        {
            if (parameters.Action == PackageAction.Remove)
            {
                present = Direct(PackageId.NameIn(parameters.Package));
                if (present.Source != "Embedded") return State(parameters.Action, present.Name, present.Name, null, present);
                throw new ToolException(
                    "package_embedded", $"{present.Name} lies in the project's Packages folder: its folder has to be deleted.");
            }
            var id = PackageId.Parse(parameters.Package);
            if (parameters.Action == PackageAction.Update)
            {
                if (id.Source != PackageSource.Registry) PackageId.NameIn(parameters.Package);
                present = Direct(id.Name);
                if (id.Version == present.Version) return null;
                var isByName = present.Source == "Registry" || present.Source == "BuiltIn" || id.Version != null;
                var asked = isByName ? id.Text : PackageChange.OriginOf(present) ?? id.Text;
                return State(parameters.Action, asked, id.Name, id.Version, present);
            }
            present = services.Packages.Installed().FirstOrDefault(one =>
                one.IsDirect && (id.Name.Length > 0 ? one.Name == id.Name : PackageChange.OriginOf(one) == id.Text));
            // An address is read again: it may have something newer.
            var isOfRegistry = id.Source == PackageSource.Registry;
            if (present != null && isOfRegistry && (id.Version == null || id.Version == present.Version)) return null;
            return State(parameters.Action, id.Text, id.Name, id.Version, present);
        }

        private static PackageState State(
            PackageAction action, string asked, string name, string? version, InstalledPackage? present) => new PackageState
        {
            Action = action,
            Asked = asked,
            Name = name,
            Version = version,
            Before = present?.Version,
        };

        private InstalledPackage Direct(string name)
        {
            var all = services.Packages.Installed();
            var found = all.FirstOrDefault(one => one.Name == name);
            if (found != null && found.IsDirect) return found;
            if (found != null)
            {
                throw new ToolException(
                    "package_not_direct", $"{name} is there only because other packages need it; the project does not name it.");
            }
            var word = name.Split('.').Last();
            var others = all.Where(one => one.IsDirect && one.Name.Contains(word)).Select(one => one.Name).Take(3).ToList();
            var hint = others.Count > 0 ? $"Did you mean {string.Join(" or ", others)}?" : "list-packages has those that are.";
            throw new ToolException("package_not_installed", $"{name} is not installed. {hint}");
        }

        private async Task<ManagePackagesResponse> Ended(PackageChange change)
        {
            var package = await change.EndAsync();
            var state = change.State;
            return new ManagePackagesResponse
            {
                Success = true,
                Action = state.Action,
                Package = package?.Name ?? state.Name,
                Version = package?.Version,
                PreviousVersion = state.Before,
                Source = package?.Source,
                // Another commit may have the same version.
                Changed = package == null || package.Version != state.Before || package.Source == "Git",
                Message = $"{Foreign(package)} {Broken()}".Trim() is { Length: > 0 } message ? message : null,
            };
        }

        private static ManagePackagesResponse Unchanged(PackageAction action, InstalledPackage present) => new ManagePackagesResponse
        {
            Success = true,
            Action = action,
            Package = present.Name,
            Version = present.Version,
            PreviousVersion = present.Version,
            Source = present.Source,
            Message = "It is installed already. Update, or a version, changes it.",
        };

        private static string Foreign(InstalledPackage? package)
        {
            var isForeign = package != null && package.Source != "Registry" && package.Source != "BuiltIn";
            if (!isForeign) return "";
            return $"Its code comes from {PackageId.WithoutUser(PackageChange.OriginOf(package!) ?? package!.Source)}, from no registry.";
        }

        private string Broken() => services.Editor.Phase == "compile_errors"
            ? "Scripts do not compile now; compile shows the errors."
            : "";
    }
}
