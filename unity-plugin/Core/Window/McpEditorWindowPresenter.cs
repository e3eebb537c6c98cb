#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.IO;
using System.Linq;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Config;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Window
{
    /// <summary>
    /// Between the window and the bridge: provides what is shown and performs clicks. Main thread only. Nothing of it
    /// throws; what went wrong is the notice.
    /// </summary>
    public sealed class McpEditorWindowPresenter
    {
        private readonly McpEditorWindowModel model = new McpEditorWindowModel();
        private readonly IBridgeControl bridge;
        private readonly IBridgeSettings settings;
        private readonly ClientInstaller installer;
        private readonly McpCommunicationLog log;
        private readonly IClock clock;

        public McpEditorWindowPresenter(
            IBridgeControl bridge, IBridgeSettings settings, ClientInstaller installer, McpCommunicationLog log, IClock clock)
        {
            this.bridge = bridge;
            this.settings = settings;
            this.installer = installer;
            this.log = log;
            this.clock = clock;
        }

        /// <summary>What there is to show now.</summary>
        public WindowViewData View()
        {
            var status = bridge.Status();
            var current = settings.Current;
            return new WindowViewData
            {
                IsRunning = status.Running,
                Headline = WindowText.Headline(status),
                Problem = status.LastError,
                Notice = model.Notice,
                Facts = Facts(status),
                CanHandOver = status.BoundStore != null,
                Clients = current.PlainSurface ? status.Clients.Select(ClientLine).ToList() : new List<string>(),
                McpClients = WindowText.McpClients(status.McpClients).ToList(),
                Running = WindowText.Running(status.RunningOperation, clock.NowMs),
                Queue = status.Queue.Select((one, index) => $"{index + 1}. {one.Tool}").ToList(),
                Tools = ToolRows.Of(bridge.Tools(), settings.Security),
                IsDevelopment = settings.Security.IsDevelopment,
                Security = SecurityPlace.All.Select(one => Switch(one, current)).ToList(),
                AutoStart = current.AutoStart,
                PlainSurface = current.PlainSurface,
                PlainSurfaceConsequence = WindowText.PlainSurfaceConsequence,
                PortText = model.TypedPort ?? Written(current.Port),
                PortNote = PortNote(current, status),
                LabelsText = model.TypedLabels ?? string.Join(", ", current.Labels),
                LabelsNote = WindowText.LabelsNote(model.TypedLabels),
                LabelsInEffect = status.Labels.Count > 0 ? string.Join(", ", status.Labels) : "none",
                AllowedMenuItems = model.TypedAllowed ?? Lines(current.AllowedMenuItems),
                DeniedMenuItems = model.TypedDenied ?? Lines(current.DeniedMenuItems),
                HasMenuItemChanges = model.TypedAllowed != null || model.TypedDenied != null,
                BuildFolders = model.TypedBuildFolders ?? Lines(current.BuildFolders),
                HasBuildFolderChanges = model.TypedBuildFolders != null,
                CanInstall = !installer.IsBusy,
                InstallNote = installer.Note,
                LogFilter = model.LogFilter,
                Log = log.Entries().Where(IsWanted).Reverse().Select(Row).ToList(),
            };
        }

        public void Start() => bridge.Start();

        public void Stop() => bridge.Stop();

        public void HandOver()
        {
            bridge.HandOver();
            model.Notice = "The next broker that says hello takes this Editor over.";
        }

        public void SetAutoStart(bool on) => Change(settings.Current with { AutoStart = on });

        public void SetPlainSurface(bool on) => Change(settings.Current with { PlainSurface = on });

        public void SetSecurity(SecuritySetting setting, bool on) => Change(settings.Current.With(setting, on));

        public void SetDevelopment(bool on) => Change(settings.Current with { IsDevelopment = on });

        /// <summary>Switches one tool alone; what its assembly and its switch say anyway is not kept.</summary>
        public void SetTool(string name, bool on)
        {
            var tool = bridge.Tools().FirstOrDefault(one => one.Name == name);
            if (tool == null) return;
            var current = settings.Current;
            var others = current with { Choices = current.Choices.WithTool(name, null) };
            var isOnAnyway = ToolConsent.Refusal(tool, settings.Security with { Choices = others.Choices }) == null;
            Change(isOnAnyway == on ? others : current with { Choices = current.Choices.WithTool(name, on) });
        }

        /// <summary>Switches the tools of an assembly; what counts anyway is not kept.</summary>
        public void SetAssembly(string name, bool on)
        {
            var package = bridge.Tools().FirstOrDefault(tool => tool.Assembly == name)?.Package;
            var current = settings.Current;
            var others = current with { Choices = current.Choices.WithAssembly(name, null) };
            var isOnAnyway = ToolConsent.IsAllowed(name, package, others.Security());
            Change(isOnAnyway == on ? others : current with { Choices = current.Choices.WithAssembly(name, on) });
        }

        public void TypePort(string text) => model.TypedPort = text;

        /// <summary>Keeps the typed port; text that is none stays typed.</summary>
        public void ApplyPort()
        {
            if (model.TypedPort == null || !Read(model.TypedPort, out var port)) return;
            if (Change(settings.Current with { Port = port })) model.TypedPort = null;
        }

        public void TypeLabels(string text) => model.TypedLabels = text;

        /// <summary>Keeps the typed labels; text that is none stays typed.</summary>
        public void ApplyLabels()
        {
            if (model.TypedLabels == null || WindowText.LabelsNote(model.TypedLabels).Length > 0) return;
            if (Change(settings.Current with { Labels = EditorLabels.Between(model.TypedLabels) })) model.TypedLabels = null;
        }

        public void TypeMenuItems(string allowed, string denied)
        {
            model.TypedAllowed = allowed;
            model.TypedDenied = denied;
        }

        public void ApplyMenuItems()
        {
            var current = settings.Current;
            var allowed = model.TypedAllowed ?? Lines(current.AllowedMenuItems);
            var denied = model.TypedDenied ?? Lines(current.DeniedMenuItems);
            if (Change(current with { AllowedMenuItems = allowed.Split('\n'), DeniedMenuItems = denied.Split('\n') })) RevertMenuItems();
        }

        public void RevertMenuItems()
        {
            model.TypedAllowed = null;
            model.TypedDenied = null;
        }

        public void TypeBuildFolders(string folders) => model.TypedBuildFolders = folders;

        public void ApplyBuildFolders()
        {
            var folders = model.TypedBuildFolders;
            if (folders != null && Change(settings.Current with { BuildFolders = folders.Split('\n') })) RevertBuildFolders();
        }

        public void RevertBuildFolders() => model.TypedBuildFolders = null;

        public void Install(McpClient client) => installer.Install(client);

        public void Uninstall(McpClient client) => installer.Remove(client);

        public void FilterLog(string text) => model.LogFilter = text;

        public void ClearLog() => log.Clear();

        private static IReadOnlyList<LabelledText> Facts(BridgeStatus status)
        {
            var facts = new List<LabelledText>
            {
                new LabelledText("Editor", status.EditorId),
                new LabelledText("Phase", status.Phase),
                new LabelledText("Broker", status.Worker ?? "none yet"),
            };
            if (status.BoundStore != null) facts.Add(new LabelledText("Store", status.BoundStore));
            return facts.Where(fact => fact.Text.Length > 0).ToList();
        }

        private static string Written(int? port) => port?.ToString(CultureInfo.InvariantCulture) ?? "";

        private static string Lines(IEnumerable<string> globs) => string.Join("\n", globs);

        private static bool Read(string text, out int? port)
        {
            port = null;
            if (text.Trim().Length == 0) return true;
            var isNumber = int.TryParse(text.Trim(), NumberStyles.None, CultureInfo.InvariantCulture, out var number);
            if (!isNumber || !StartOptions.IsPort(number)) return false;
            port = number;
            return true;
        }

        private static string PortNote(string typed) =>
            Read(typed, out _) ? "" : "A port is a number from 1 to 65535; empty takes the first free one.";

        private string PortNote(BridgeSettings current, BridgeStatus status)
        {
            if (model.TypedPort != null) return PortNote(model.TypedPort);
            var isOther = current.Port.HasValue && status.Port != 0 && status.Port != current.Port;
            return isOther ? "Counts when the Editor starts again: the port of a running Editor never changes." : "";
        }

        private string ClientLine(ConnectedClient client)
        {
            var name = client.Name.Length > 0 ? client.Name : "a client without a name";
            return $"{name}, heard {WindowText.Age(clock.NowMs - client.LastHeardMs)} ago";
        }

        private static SecuritySwitch Switch(SecuritySetting setting, BridgeSettings current) =>
            new SecuritySwitch(setting, SecurityPlace.LabelOf(setting), current.IsOn(setting));

        private static LogRow Row(CommunicationEntry entry)
        {
            var sign = entry.Kind == CommunicationKind.Request ? "→" : "←";
            var line = $"{WindowText.Time(entry.AtMs)} {sign} {entry.Method} ({entry.Peer})";
            return new LogRow(entry.Number, line, entry.Text, entry.Kind == CommunicationKind.Error);
        }

        private bool IsWanted(CommunicationEntry entry)
        {
            const StringComparison anyCase = StringComparison.OrdinalIgnoreCase;
            var text = model.LogFilter;
            return text.Length == 0
                || entry.Method.IndexOf(text, anyCase) >= 0
                || entry.Peer.IndexOf(text, anyCase) >= 0
                || entry.Text.IndexOf(text, anyCase) >= 0;
        }

        private bool Change(BridgeSettings changed)
        {
            try
            {
                settings.Change(changed);
                model.Notice = "";
                return true;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                model.Notice = "The settings could not be written: " + error.Message;
                return false;
            }
        }
    }
}
