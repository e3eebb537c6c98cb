#nullable enable
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;

namespace JobBroker.Bridge.Tools
{
    /// <summary>
    /// What tools are written against: the ports, which the Editor adapter fills once at start, and what the bridge adds
    /// before it makes the tools.
    /// </summary>
    public sealed class ToolServices
    {
        public IClock Clock { get; init; } = null!;

        public IMainThread MainThread { get; init; } = null!;

        public IEditorInfo Editor { get; init; } = null!;

        public IConsole Console { get; init; } = null!;

        public IMenu Menu { get; init; } = null!;

        public ICompiler Compiler { get; init; } = null!;

        public ITestRunner Tests { get; init; } = null!;

        public ISceneQuery Scene { get; init; } = null!;

        public ISceneFiles SceneFiles { get; init; } = null!;

        public IObjectEditing Objects { get; init; } = null!;

        public ISearch Search { get; init; } = null!;

        public IBuildRunner Builds { get; init; } = null!;

        public ICodeCompiler Code { get; init; } = null!;

        public IPlayMode PlayMode { get; init; } = null!;

        public IEditorState State { get; init; } = null!;

        public IScreen Screen { get; init; } = null!;

        public IAssets Assets { get; init; } = null!;

        public IPackages Packages { get; init; } = null!;

        public ITicks Ticks { get; init; } = null!;

        /// <summary>What the user allows; without an adapter everything that runs other people's code is off.</summary>
        public ISecuritySettings Security { get; init; } = new Defaults();

        /// <summary>The newest console lines, readable from any thread.</summary>
        public ConsoleBuffer Logs { get; internal set; } = null!;

        /// <summary>All tools, for one that runs others; there when the first of them runs.</summary>
        public UnityToolRegistry Tools { get; internal set; } = null!;

        private sealed class Defaults : ISecuritySettings
        {
            public SecuritySnapshot Current { get; } = new SecuritySnapshot();
        }
    }
}
