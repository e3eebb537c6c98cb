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
        private readonly RoslynCompiler code;
        private readonly BridgeOptions options;

        public EditorBridge()
        {
            var log = new UnityLog();
            var store = new UnitySessionStore();
            Clock = new SystemClock();
            Settings = new UnitySettings();
            mainThread = new UnityMainThread(log);
            info = new UnityEditorInfo(Settings);
            console = new UnityConsole(Clock);
            compiler = new UnityCompiler(Clock);
            tests = new UnityTests(store, Clock);
            search = new UnitySearch();
            code = new RoslynCompiler(UnityCode.Locator(), UnityCode.References, log);
            var ports = new BridgePorts(
                Clock,
                mainThread,
                store,
                info,
                console,
                new UnityMenu(),
                compiler,
                tests,
                new UnityScenes(),
                search,
                new UnityBuilds(info.Building),
                code,
                Settings,
                log);
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
            info.Refresh(tests.IsRunning);
            tests.Recover();
            Controller.StartIfWanted(StartRule.StartsItself(Application.isBatchMode, Settings.Current.AutoStart));
        }

        /// <summary>A tick of the Editor: facts first, so that what runs then sees them.</summary>
        public void Tick()
        {
            info.Refresh(tests.IsRunning);
            compiler.Tick();
            tests.Tick();
            search.Tick();
            options.PlainSurface = Settings.Current.PlainSurface;
            Controller.Pump();
            mainThread.Tick();
        }

        public void BeforeReload()
        {
            Controller.BeforeReload();
            Close();
        }

        public void Quit()
        {
            Controller.Quit();
            tests.RestorePlayModeOptions();
            Close();
        }

        private void Close()
        {
            code.Dispose();
            search.Dispose();
            tests.Dispose();
            compiler.Dispose();
            console.Dispose();
        }

        private static Assembly[] ToolAssemblies() => TypeCache.GetTypesWithAttribute<McpToolAttribute>()
            .Select(type => type.Assembly)
            .Distinct()
            .ToArray();
    }
}
