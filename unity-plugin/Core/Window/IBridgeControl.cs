#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tools;

namespace JobBroker.Bridge.Window
{
    /// <summary>What the window asks of the bridge. Main thread only.</summary>
    public interface IBridgeControl
    {
        BridgeStatus Status();

        /// <summary>Every tool by name; empty before the first start.</summary>
        IReadOnlyList<RegisteredTool> Tools();

        void Start();

        void Stop();

        /// <summary>Lets another broker's store take this Editor over.</summary>
        void HandOver();
    }

    /// <summary>The window's side of the real bridge.</summary>
    public sealed class ControllerControl : IBridgeControl
    {
        private readonly McpServerController controller;

        public ControllerControl(McpServerController controller)
        {
            this.controller = controller;
        }

        public BridgeStatus Status() => controller.Status();

        public IReadOnlyList<RegisteredTool> Tools() => controller.Tools?.All() ?? Array.Empty<RegisteredTool>();

        public void Start() => controller.Start();

        public void Stop() => controller.Stop();

        public void HandOver() => controller.HandOver();
    }
}
