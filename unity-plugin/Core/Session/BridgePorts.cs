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
        public IClock Clock { get; init; } = null!;

        public IMainThread MainThread { get; init; } = null!;

        public ISessionStore SessionStore { get; init; } = null!;

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

        public ISecuritySettings Security { get; init; } = null!;

        public IBridgeLog Log { get; init; } = null!;

        /// <summary>The package that an assembly of tools came with; null for the project's own code. Main thread only.</summary>
        public Func<Assembly, string?> PackageOf { get; init; } = _ => null;

        /// <summary>Those that tools are written against.</summary>
        public ToolServices ForTools(ConsoleBuffer logs) => new ToolServices
        {
            Logs = logs,
            Clock = Clock,
            MainThread = MainThread,
            Editor = Editor,
            Console = Console,
            Menu = Menu,
            Compiler = Compiler,
            Tests = Tests,
            Scene = Scene,
            SceneFiles = SceneFiles,
            Objects = Objects,
            Search = Search,
            Builds = Builds,
            Code = Code,
            PlayMode = PlayMode,
            State = State,
            Screen = Screen,
            Assets = Assets,
            Packages = Packages,
            Ticks = Ticks,
            Security = Security,
        };
    }
}
