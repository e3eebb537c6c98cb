#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Window;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>The user's settings of this project, in its folder UserSettings. Main thread only.</summary>
    [FilePath("UserSettings/JobBrokerSettings.asset", FilePathAttribute.Location.ProjectFolder)]
    internal sealed class JobBrokerSettings : ScriptableSingleton<JobBrokerSettings>
    {
        /// <summary>0 takes the first free one.</summary>
        [SerializeField] private int port;
        [SerializeField] private bool autoStart = true;
        [SerializeField] private bool testExecution;
        [SerializeField] private bool menuItemExecution;
        [SerializeField] private bool codeExecution;
        [SerializeField] private bool buildExecution;
        [SerializeField] private bool plainSurface;
        [SerializeField] private List<string> allowedMenuItems = new List<string>();
        [SerializeField] private List<string> deniedMenuItems = MenuItemPolicy.DefaultDenied.ToList();
        [SerializeField] private List<string> buildFolders = new List<string>();
        [SerializeField] private List<string> labels = new List<string>();

        public BridgeSettings Read() => new BridgeSettings(
            port == 0 ? (int?)null : port,
            autoStart,
            testExecution,
            menuItemExecution,
            codeExecution,
            buildExecution,
            plainSurface,
            allowedMenuItems,
            deniedMenuItems,
            buildFolders,
            labels);

        public void Write(BridgeSettings settings)
        {
            port = settings.Port ?? 0;
            autoStart = settings.AutoStart;
            testExecution = settings.TestExecution;
            menuItemExecution = settings.MenuItemExecution;
            codeExecution = settings.CodeExecution;
            buildExecution = settings.BuildExecution;
            plainSurface = settings.PlainSurface;
            allowedMenuItems = settings.AllowedMenuItems.ToList();
            deniedMenuItems = settings.DeniedMenuItems.ToList();
            buildFolders = settings.BuildFolders.ToList();
            labels = settings.Labels.ToList();
            Save(true);
        }
    }
}
