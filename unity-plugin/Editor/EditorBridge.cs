#nullable enable
using System;
using System.Linq;
using System.Reflection;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Code;
using JobBroker.Bridge.Config;
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tools;
using JobBroker.Bridge.Window;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Unity
{
    /// <summary>The bridge of one script domain: Unity's side of every port, put together. Main thread only.</summary>
    internal sealed class EditorBridge
    {
        private readonly UnityMainThread mainThread;
        private readonly UnityEditorInfo info;
        private readonly UnityConsole console;
        private readonly UnityCompiler compiler;
        private readonly UnityTests tests;
        private readonly UnitySearch search;
        private readonly UnityPlayMode playMode;
        private readonly RoslynCompiler code;
        private readonly BridgeOptions options;
        private readonly TickGuard guard;

        public EditorBridge()
        {
            var log = new UnityLog();
            guard = new TickGuard(log);
            var store = new UnitySessionStore();
            Clock = new SystemClock();
            Settings = new UnitySettings();
            mainThread = new UnityMainThread(log);
            info = new UnityEditorInfo(Settings);
            console = new UnityConsole(Clock, log);
            compiler = new UnityCompiler(Clock);
            tests = new UnityTests(store, Clock);
            search = new UnitySearch();
            playMode = new UnityPlayMode(Clock);
            code = new RoslynCompiler(UnityCode.Locator(), UnityCode.References, log);
            var ports = new BridgePorts
            {
                Clock = Clock,
                MainThread = mainThread,
                SessionStore = store,
                Editor = info,
                Console = console,
                Menu = new UnityMenu(),
                Compiler = compiler,
                Tests = tests,
                Scene = new UnityScenes(),
                Search = search,
                Builds = new UnityBuilds(info.Building),
                Code = code,
                PlayMode = playMode,
                State = new UnityState(),
                Screen = new UnityScreen(),
                Security = Settings,
                Log = log,
            };
            options = StartOptions.Of(Settings.Current, Environment.GetEnvironmentVariable, out var fault);
            if (fault != null) log.Warn(fault);
            if (Settings.Fault != null) log.Warn(Settings.Fault);
            Controller = new McpServerController(ports, options, ToolAssemblies());
            Clients = new McpConfigService(PackageFiles.ClientTable(log), new McpConfigRepository(), ConfigMachine.Current());
        }

        public SystemClock Clock { get; }

        public UnitySettings Settings { get; }

        public McpServerController Controller { get; }

        public McpConfigService Clients { get; }

        public void Start()
        {
            guard.Run("facts", () => info.Refresh(tests.IsRunning));
            guard.Run("tests", tests.Recover);
            guard.Run("server", () => Controller.StartIfWanted(
                StartRule.StartsItself(Application.isBatchMode, Settings.Current.AutoStart)));
        }

        /// <summary>A tick of the Editor: facts first, so that what runs then sees them.</summary>
        public void Tick()
        {
            guard.Run("facts", () => info.Refresh(tests.IsRunning));
            guard.Run("compiler", compiler.Tick);
            guard.Run("tests", tests.Tick);
            guard.Run("search", search.Tick);
            guard.Run("play mode", playMode.Tick);
            options.PlainSurface = Settings.Current.PlainSurface;
            guard.Run("server", Controller.Pump);
            guard.Run("main thread", mainThread.Tick);
        }

        public void BeforeReload()
        {
            guard.Run("server", () => Controller.BeforeReload());
            Close();
        }

        public void Quit()
        {
            guard.Run("server", () => Controller.Quit());
            guard.Run("tests", tests.RestorePlayModeOptions);
            Close();
        }

        private void Close()
        {
            guard.Run("code", code.Dispose);
            guard.Run("search", search.Dispose);
            guard.Run("tests", tests.Dispose);
            guard.Run("compiler", compiler.Dispose);
            guard.Run("console", console.Dispose);
        }

        private static Assembly[] ToolAssemblies() => TypeCache.GetTypesWithAttribute<McpToolAttribute>()
            .Select(type => type.Assembly)
            .Distinct()
            .ToArray();
    }
}
