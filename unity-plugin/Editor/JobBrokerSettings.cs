#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Tools;
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
        [SerializeField] private bool plainSurface;
        [SerializeField] private bool development;
        /// <summary>Words: switches that are on, and what was said of single tools and assemblies.</summary>
        [SerializeField] private List<string> allowed = new List<string>();
        [SerializeField] private List<string> allowedMenuItems = new List<string>();
        [SerializeField] private List<string> deniedMenuItems = MenuItemPolicy.DefaultDenied.ToList();
        [SerializeField] private List<string> buildFolders = new List<string>();
        [SerializeField] private List<string> labels = new List<string>();

        public BridgeSettings Read() => new BridgeSettings
        {
            Port = port == 0 ? (int?)null : port,
            AutoStart = autoStart,
            PlainSurface = plainSurface,
            IsDevelopment = development,
            Allowed = allowed.Select(SecurityPlace.Named).OfType<SecuritySetting>().ToList(),
            Choices = ToolChoices.Of(allowed.Where(word => SecurityPlace.Named(word) == null)),
            AllowedMenuItems = allowedMenuItems,
            DeniedMenuItems = deniedMenuItems,
            BuildFolders = buildFolders,
            Labels = labels,
        };

        public void Write(BridgeSettings settings)
        {
            port = settings.Port ?? 0;
            autoStart = settings.AutoStart;
            plainSurface = settings.PlainSurface;
            development = settings.IsDevelopment;
            allowed = settings.Allowed.Select(SecurityPlace.WordOf).Concat(settings.Choices.Words).ToList();
            allowedMenuItems = settings.AllowedMenuItems.ToList();
            deniedMenuItems = settings.DeniedMenuItems.ToList();
            buildFolders = settings.BuildFolders.ToList();
            labels = settings.Labels.ToList();
            Save(true);
        }
    }
}
