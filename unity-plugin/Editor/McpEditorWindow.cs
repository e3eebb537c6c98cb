#nullable enable
using System.Linq;
using JobBroker.Bridge.Config;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Window;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>
    /// The window of the bridge: draws its presenter's view and forwards clicks. Main thread only.
    /// </summary>
    public sealed class McpEditorWindow : EditorWindow
    {
        private McpEditorWindowPresenter? presenter;
        private EditorBridge? shown;
        private GUIStyle? plainLabel;
        private WindowViewData data = new WindowViewData();
        private Vector2 scroll;
        private bool showTools;
        private bool showInstall = true;
        private bool showLog;
        private long openEntry;

        [MenuItem("Window/Unity Job Broker")]
        private static void Open() => GetWindow<McpEditorWindow>("Job Broker");

        private void OnInspectorUpdate() => Repaint();

        private void OnGUI()
        {
            // Layout and repaint must draw the same controls: what they draw is read once, before both.
            if (Event.current.type == EventType.Layout) Read();
            if (presenter == null)
            {
                if (EditorBootstrap.Failure is { } failure) EditorGUILayout.HelpBox(failure, MessageType.Error);
                else EditorGUILayout.HelpBox("The bridge does not run in this process of the Editor.", MessageType.Info);
                return;
            }
            scroll = EditorGUILayout.BeginScrollView(scroll);
            DrawServer(presenter);
            DrawOperations();
            DrawSecurity(presenter);
            DrawTools(presenter);
            DrawInstall(presenter);
            DrawLog(presenter);
            EditorGUILayout.EndScrollView();
        }

        private void Read()
        {
            var bridge = EditorBootstrap.Bridge;
            if (bridge != shown)
            {
                shown = bridge;
                presenter = bridge == null ? null : new McpEditorWindowPresenter(
                    new ControllerControl(bridge.Controller),
                    bridge.Settings,
                    bridge.Installer,
                    bridge.Controller.Log,
                    bridge.Clock);
            }
            if (presenter != null) data = presenter.View();
        }

        private void DrawServer(McpEditorWindowPresenter clicked)
        {
            EditorGUILayout.LabelField(data.Headline, EditorStyles.boldLabel);
            if (data.Problem != null) EditorGUILayout.HelpBox(data.Problem, MessageType.Error);
            if (data.Notice.Length > 0) EditorGUILayout.HelpBox(data.Notice, MessageType.Info);
            foreach (var fact in data.Facts) EditorGUILayout.LabelField(fact.Label, fact.Text);
            EditorGUILayout.BeginHorizontal();
            if (GUILayout.Button(data.IsRunning ? "Stop" : "Start"))
            {
                if (data.IsRunning) clicked.Stop();
                else clicked.Start();
            }
            if (data.CanHandOver && GUILayout.Button("Hand over")) clicked.HandOver();
            EditorGUILayout.EndHorizontal();
            var autoStart = EditorGUILayout.ToggleLeft("Start with the Editor", data.AutoStart);
            if (autoStart != data.AutoStart) clicked.SetAutoStart(autoStart);
            var port = EditorGUILayout.DelayedTextField("Port", data.PortText);
            if (port != data.PortText)
            {
                clicked.TypePort(port);
                clicked.ApplyPort();
            }
            if (data.PortNote.Length > 0) EditorGUILayout.HelpBox(data.PortNote, MessageType.Warning);
            DrawLabels(clicked);
            foreach (var client in data.Clients) EditorGUILayout.LabelField("Client", client);
            // What clients call themselves is text, never markup.
            plainLabel ??= new GUIStyle(EditorStyles.label) { richText = false };
            foreach (var client in data.McpClients) EditorGUILayout.LabelField("MCP client", client, plainLabel);
        }

        private void DrawLabels(McpEditorWindowPresenter clicked)
        {
            var labels = EditorGUILayout.DelayedTextField("Labels", data.LabelsText);
            if (labels != data.LabelsText)
            {
                clicked.TypeLabels(labels);
                clicked.ApplyLabels();
            }
            if (data.LabelsNote.Length > 0) EditorGUILayout.HelpBox(data.LabelsNote, MessageType.Warning);
            EditorGUILayout.LabelField("In effect", data.LabelsInEffect);
        }

        private void DrawOperations()
        {
            EditorGUILayout.Space();
            EditorGUILayout.LabelField("Operations", EditorStyles.boldLabel);
            if (data.Running == null) EditorGUILayout.LabelField("Nothing runs");
            else if (data.Running.Fraction == null) EditorGUILayout.LabelField(data.Running.Text);
            else EditorGUI.ProgressBar(EditorGUILayout.GetControlRect(), data.Running.Fraction.Value, data.Running.Text);
            foreach (var waiting in data.Queue) EditorGUILayout.LabelField(waiting);
        }

        private void DrawSecurity(McpEditorWindowPresenter clicked)
        {
            EditorGUILayout.Space();
            EditorGUILayout.LabelField("Security", EditorStyles.boldLabel);
            foreach (var one in data.Security)
            {
                var on = EditorGUILayout.ToggleLeft(one.Label, one.IsOn);
                if (on != one.IsOn) clicked.SetSecurity(one.Setting, on);
            }
            var plain = EditorGUILayout.ToggleLeft("Plain calls without the token", data.PlainSurface);
            EditorGUILayout.HelpBox(
                data.PlainSurfaceConsequence, data.PlainSurface ? MessageType.Warning : MessageType.None);
            if (plain != data.PlainSurface) clicked.SetPlainSurface(plain);
            DrawMenuItems(clicked);
            DrawBuildFolders(clicked);
        }

        private void DrawMenuItems(McpEditorWindowPresenter clicked)
        {
            EditorGUILayout.LabelField("Allowed menu items, one a line (empty: all that are not denied)");
            var allowed = EditorGUILayout.TextArea(data.AllowedMenuItems);
            EditorGUILayout.LabelField("Denied menu items");
            var denied = EditorGUILayout.TextArea(data.DeniedMenuItems);
            if (allowed != data.AllowedMenuItems || denied != data.DeniedMenuItems) clicked.TypeMenuItems(allowed, denied);
            if (!data.HasMenuItemChanges) return;
            EditorGUILayout.BeginHorizontal();
            if (GUILayout.Button("Apply")) clicked.ApplyMenuItems();
            if (GUILayout.Button("Revert")) clicked.RevertMenuItems();
            EditorGUILayout.EndHorizontal();
        }

        private void DrawBuildFolders(McpEditorWindowPresenter clicked)
        {
            EditorGUILayout.LabelField("Allowed build folders beside the project's, one a line");
            var folders = EditorGUILayout.TextArea(data.BuildFolders);
            if (folders != data.BuildFolders) clicked.TypeBuildFolders(folders);
            if (!data.HasBuildFolderChanges) return;
            EditorGUILayout.BeginHorizontal();
            if (GUILayout.Button("Apply")) clicked.ApplyBuildFolders();
            if (GUILayout.Button("Revert")) clicked.RevertBuildFolders();
            EditorGUILayout.EndHorizontal();
        }

        private void DrawTools(McpEditorWindowPresenter clicked)
        {
            EditorGUILayout.Space();
            showTools = EditorGUILayout.Foldout(showTools, $"Tools ({data.Tools.Sum(group => group.Tools.Count)})", true);
            if (!showTools) return;
            var development = EditorGUILayout.ToggleLeft(SecurityPlace.Development, data.IsDevelopment);
            if (development != data.IsDevelopment) clicked.SetDevelopment(development);
            foreach (var group in data.Tools)
            {
                if (group.Assembly != null)
                {
                    var all = EditorGUILayout.ToggleLeft(group.Title, group.IsOn);
                    if (all != group.IsOn) clicked.SetAssembly(group.Assembly, all);
                }
                foreach (var tool in group.Tools) DrawTool(clicked, tool);
            }
        }

        private static void DrawTool(McpEditorWindowPresenter clicked, ToolRow tool)
        {
            EditorGUILayout.BeginHorizontal();
            var on = EditorGUILayout.ToggleLeft(new GUIContent(tool.Name, tool.Description), tool.IsOn);
            EditorGUILayout.LabelField(tool.Remark, EditorStyles.miniLabel);
            EditorGUILayout.EndHorizontal();
            if (on != tool.IsOn) clicked.SetTool(tool.Name, on);
        }

        private void DrawInstall(McpEditorWindowPresenter clicked)
        {
            EditorGUILayout.Space();
            showInstall = EditorGUILayout.Foldout(showInstall, "MCP clients on this machine", true);
            if (!showInstall) return;
            EditorGUI.BeginDisabledGroup(!data.CanInstall);
            foreach (var client in McpClient.All)
            {
                EditorGUILayout.BeginHorizontal();
                EditorGUILayout.LabelField(client.Title);
                if (GUILayout.Button("Install", GUILayout.Width(80))) clicked.Install(client);
                if (GUILayout.Button("Remove", GUILayout.Width(80))) clicked.Uninstall(client);
                EditorGUILayout.EndHorizontal();
            }
            EditorGUI.EndDisabledGroup();
            if (data.InstallNote.Length > 0) EditorGUILayout.HelpBox(data.InstallNote, MessageType.Info);
        }

        private void DrawLog(McpEditorWindowPresenter clicked)
        {
            EditorGUILayout.Space();
            showLog = EditorGUILayout.Foldout(showLog, "Communication", true);
            if (!showLog) return;
            EditorGUILayout.BeginHorizontal();
            var filter = EditorGUILayout.TextField("Filter", data.LogFilter);
            if (filter != data.LogFilter) clicked.FilterLog(filter);
            if (GUILayout.Button("Clear", GUILayout.Width(80))) clicked.ClearLog();
            EditorGUILayout.EndHorizontal();
            foreach (var row in data.Log)
            {
                var isOpen = EditorGUILayout.Foldout(openEntry == row.Number, (row.IsError ? "! " : "") + row.Line, true);
                if (isOpen != (openEntry == row.Number)) openEntry = isOpen ? row.Number : 0;
                if (isOpen) EditorGUILayout.LabelField(row.Text, EditorStyles.wordWrappedMiniLabel);
            }
        }
    }
}
