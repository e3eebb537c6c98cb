#nullable enable
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Wire;

namespace JobBroker.Bridge.Session
{
    /// <summary>Everything of Unity that the bridge stands on; an adapter fills it once in each script domain.</summary>
    public sealed class BridgePorts
    {
        public BridgePorts(
            IClock clock,
            IMainThread mainThread,
            ISessionStore sessionStore,
            IEditorInfo editor,
            IConsole console,
            IMenu menu,
            ICompiler compiler,
            ITestRunner tests,
            ISceneQuery scene,
            ISearch search,
            IBuildRunner builds,
            ICodeCompiler code,
            ISecuritySettings security,
            IBridgeLog log)
        {
            Clock = clock;
            MainThread = mainThread;
            SessionStore = sessionStore;
            Editor = editor;
            Console = console;
            Menu = menu;
            Compiler = compiler;
            Tests = tests;
            Scene = scene;
            Search = search;
            Builds = builds;
            Code = code;
            Security = security;
            Log = log;
        }

        public IClock Clock { get; }

        public IMainThread MainThread { get; }

        public ISessionStore SessionStore { get; }

        public IEditorInfo Editor { get; }

        public IConsole Console { get; }

        public IMenu Menu { get; }

        public ICompiler Compiler { get; }

        public ITestRunner Tests { get; }

        public ISceneQuery Scene { get; }

        public ISearch Search { get; }

        public IBuildRunner Builds { get; }

        public ICodeCompiler Code { get; }

        public ISecuritySettings Security { get; }

        public IBridgeLog Log { get; }
    }
}
