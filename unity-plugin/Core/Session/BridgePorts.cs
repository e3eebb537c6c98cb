#nullable enable
using System;
using System.Reflection;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Wire;

namespace JobBroker.Bridge.Session
{
    /// <summary>
    /// Everything of Unity that the bridge stands on; an adapter fills all of it once in each script domain.
    /// </summary>
    public sealed class BridgePorts
    {
        /// <summary>The ports that tools have as well.</summary>
        public ToolServices Services { get; init; } = null!;

        public ISessionStore SessionStore { get; init; } = null!;

        public IBridgeLog Log { get; init; } = null!;

        /// <summary>The package that an assembly of tools came with; null for the project's own code. Main thread only.</summary>
        public Func<Assembly, string?> PackageOf { get; init; } = _ => null;
    }
}
