#nullable enable
using System;
using System.Linq;
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
        private readonly RoslynCompiler code;
        private readonly TickWaits ticks;
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
            info = new UnityEditorInfo(Settings, () => tests!.IsRunning);
            console = new UnityConsole(Clock, log);
            compiler = new UnityCompiler(Clock);
            tests = new UnityTests(store, Clock, info.ProjectPath);
            search = new UnitySearch();
            ticks = new TickWaits(Clock);
            code = new RoslynCompiler(UnityCode.Locator(), UnityCode.References, log);
            var ports = new BridgePorts
            {
                Services = new ToolServices
                {
                    Clock = Clock,
                    MainThread = mainThread,
                    Editor = info,
                    Console = console,
                    Menu = new UnityMenu(),
                    Compiler = compiler,
                    Tests = tests,
                    Scene = new UnityScenes(),
                    SceneFiles = new UnitySceneFiles(),
                    Objects = new UnityObjects(),
                    Search = search,
                    Builds = new UnityBuilds(info.Building),
                    Code = code,
                    PlayMode = new UnityPlayMode(),
                    State = new UnityState(),
                    Screen = new UnityScreen(),
                    Assets = new UnityAssets(),
                    Packages = new UnityPackages(),
                    Ticks = ticks,
                    Security = Settings,
                },
                SessionStore = store,
                Log = log,
                PackageOf = ToolPackages.Of,
            };
            options = StartOptions.Of(Settings.Current, Environment.GetEnvironmentVariable, out var fault);
            if (fault != null) log.Warn(fault);
            if (Settings.Fault != null) log.Warn(Settings.Fault);
            Controller = new McpServerController(ports, options, TypeCache.GetTypesWithAttribute<McpToolAttribute>().ToArray());
            Installer = new ClientInstaller(ConfigMachine.Current(), text => EditorGUIUtility.systemCopyBuffer = text, log);
        }

        public SystemClock Clock { get; }

        public UnitySettings Settings { get; }

        public McpServerController Controller { get; }

        public ClientInstaller Installer { get; }

        public void Start()
        {
            guard.Run("facts", () => info.Refresh());
            guard.Run("tests", tests.Recover);
            guard.Run("server", () => Controller.StartIfWanted(
                StartRule.StartsItself(Application.isBatchMode, Settings.Current.AutoStart)));
        }

        /// <summary>A tick of the Editor: facts first, so that what runs then sees them.</summary>
        public void Tick()
        {
            guard.Run("facts", () => info.Refresh());
            guard.Run("compiler", compiler.Tick);
            guard.Run("tests", tests.Tick);
            guard.Run("search", search.Tick);
            guard.Run("waits", ticks.Tick);
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
            guard.Run("installer", Installer.Dispose);
            guard.Run("code", code.Dispose);
            guard.Run("search", search.Dispose);
            guard.Run("tests", tests.Dispose);
            guard.Run("compiler", compiler.Dispose);
            guard.Run("console", console.Dispose);
        }
    }
}
