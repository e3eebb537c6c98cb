#nullable enable
using System;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Window;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>The settings as any thread may read them: snapshots, replaced with every change.</summary>
    internal sealed class UnitySettings : IBridgeSettings, ISecuritySettings
    {
        private readonly BatchPermissions? batch;
        private readonly bool isDevelopment = Environment.GetEnvironmentVariable(SecurityPlace.DevelopmentVariable) == "1";
        private volatile BridgeSettings current;
        private volatile SecuritySnapshot security;

        /// <summary>Main thread only.</summary>
        public UnitySettings()
        {
            batch = BatchPermissions.Of(
                Environment.GetEnvironmentVariable(BatchPermissions.Variable),
                Environment.GetCommandLineArgs(),
                Application.isBatchMode,
                out var fault);
            Fault = fault;
            current = JobBrokerSettings.instance.Read();
            security = SecurityOf(current);
        }

        /// <summary>A sentence about what the command line or the environment names in vain; null when there is nothing.</summary>
        public string? Fault { get; }

        public BridgeSettings Current => current;

        public SecuritySnapshot Security => security;

        SecuritySnapshot ISecuritySettings.Current => security;

        public void Change(BridgeSettings settings)
        {
            JobBrokerSettings.instance.Write(settings);
            current = settings;
            security = SecurityOf(settings);
        }

        private SecuritySnapshot SecurityOf(BridgeSettings settings)
        {
            var effective = isDevelopment ? settings with { IsDevelopment = true } : settings;
            return batch?.Over(effective) ?? effective.Security(Application.isBatchMode);
        }
    }
}
