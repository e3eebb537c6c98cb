#nullable enable
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Security;

namespace JobBroker.Bridge.Tools
{
    /// <summary>The ports that tools are written against; the Editor adapter fills them once at start.</summary>
    public sealed class ToolServices
    {
        public ToolServices(
            IClock clock,
            IMainThread mainThread,
            IEditorInfo editor,
            IConsole console,
            ConsoleBuffer logs,
            IMenu menu,
            ICompiler compiler,
            ITestRunner tests,
            ISceneQuery scene,
            ISearch search,
            IBuildRunner builds,
            ICodeCompiler code,
            ISecuritySettings? security = null)
        {
            Clock = clock;
            MainThread = mainThread;
            Editor = editor;
            Console = console;
            Logs = logs;
            Menu = menu;
            Compiler = compiler;
            Tests = tests;
            Scene = scene;
            Search = search;
            Builds = builds;
            Code = code;
            Security = security ?? new Defaults();
        }

        public IClock Clock { get; }

        public IMainThread MainThread { get; }

        public IEditorInfo Editor { get; }

        public IConsole Console { get; }

        /// <summary>The newest console lines, readable from any thread.</summary>
        public ConsoleBuffer Logs { get; }

        public IMenu Menu { get; }

        public ICompiler Compiler { get; }

        public ITestRunner Tests { get; }

        public ISceneQuery Scene { get; }

        public ISearch Search { get; }

        public IBuildRunner Builds { get; }

        public ICodeCompiler Code { get; }

        /// <summary>What the user allows; without an adapter everything that runs other people's code is off.</summary>
        public ISecuritySettings Security { get; }

        private sealed class Defaults : ISecuritySettings
        {
            public SecuritySnapshot Current { get; } = new SecuritySnapshot();
        }
    }
}
