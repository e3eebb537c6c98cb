#nullable enable
using System.Collections.Generic;
using System.Linq;
using System.Reflection;
using System.Threading;
using JobBroker.Bridge.Adapter;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Unity;
using NUnit.Framework;
using UnityEditor;
using UnityEngine;

namespace JobBroker.Bridge.Editor.Tests
{
    /// <summary>What only a real Editor can show: that Unity's API does what the adapter takes it to do.</summary>
    public sealed class BridgeInEditorTests
    {
        private const BindingFlags AnyStatic = BindingFlags.Static | BindingFlags.Public | BindingFlags.NonPublic;

        [Test]
        public void The_bridge_runs_in_this_Editor()
        {
            Assume.That(Application.isBatchMode, Is.False, "In batch mode it runs only with -jobBroker.");
            Assert.That(EditorBootstrap.Bridge, Is.Not.Null);
            EditorBootstrap.EnsureStarted();
            Assert.That(EditorBootstrap.Bridge!.Controller.Status().LastError, Is.Null);
        }

        [Test]
        public void This_Editor_has_the_internals_that_the_bridge_reaches_for()
        {
            Assert.That(typeof(EditorApplication).GetMethod("SignalTick", AnyStatic), Is.Not.Null, "SignalTick");
            var entries = typeof(EditorApplication).Assembly.GetType("UnityEditor.LogEntries");
            Assert.That(entries?.GetMethod("Clear", AnyStatic), Is.Not.Null, "LogEntries.Clear");
            Assert.That(entries?.GetMethod("GetCount", AnyStatic), Is.Not.Null, "LogEntries.GetCount");
            Assert.That(TestFramework.Jobs(), Is.Not.Null.And.Not.Empty, "the framework's job, while this test runs");
            // Before 1.4 it tells only of a run of the command line.
            Assert.That(TestFramework.IsRunActive() || !TestFramework.CanCancel, "TestRunnerApi.IsRunActive, while this test runs");
        }

        [Test]
        public void This_Editors_compiler_compiles_against_what_is_loaded()
        {
            Assert.That(UnityCode.Locator()(), Is.Not.Null, "DotNetSdkRoslyn/csc.dll");
            using (var compiler = new Code.RoslynCompiler(UnityCode.Locator(), UnityCode.References, new UnityLog()))
            {
                const string source = "public static class A { public static string B() => UnityEngine.Application.unityVersion; }";
                var code = compiler.CompileAsync(source, "JobBrokerTest", CancellationToken.None).GetAwaiter().GetResult();
                Assert.That(code.Messages.Where(message => message.IsError).Select(message => message.Message), Is.Empty);
                Assert.That(code.Assembly!.GetType("A")!.GetMethod("B")!.Invoke(null, null), Is.EqualTo(Application.unityVersion));
            }
        }

        [Test]
        public void The_console_is_heard()
        {
            var lines = new List<ConsoleLine>();
            using (var console = new UnityConsole(new SystemClock(), new UnityLog()))
            {
                console.LineWritten += lines.Add;
                Debug.Log("a line for the bridge");
            }
            Assert.That(lines.Select(line => line.Message), Does.Contain("a line for the bridge"));
        }

        [Test]
        public void The_session_store_tells_empty_from_nothing()
        {
            var store = new UnitySessionStore();
            const string key = "JobBroker.Test";
            Assert.That(store.Get(key), Is.Null);
            store.Set(key, "");
            Assert.That(store.Get(key), Is.EqualTo(""));
            store.Set(key, null);
            Assert.That(store.Get(key), Is.Null);
        }

        [Test]
        public void The_scene_is_read_with_its_components()
        {
            var made = new GameObject("Job Broker Test");
            try
            {
                made.AddComponent<BoxCollider>();
                var scenes = new UnityScenes();
                var read = scenes.Roots().Single(root => ReferenceEquals(root.Handle, made));
                Assert.That(read.Components, Is.EqualTo(new[] { "Transform", "BoxCollider" }));
                Assert.That(
                    scenes.Components(read, true).Single(one => one.Type == "BoxCollider").Properties.Select(one => one.Name),
                    Does.Contain("m_IsTrigger"));
            }
            finally
            {
                Object.DestroyImmediate(made);
            }
        }

        [Test]
        public void The_menu_lists_the_bridges_own_item_and_build_targets_are_known()
        {
            Assert.That(new UnityMenu().List().Select(item => item.Path), Does.Contain("Window/Unity Job Broker"));
            var builds = new UnityBuilds(() => { });
            Assert.That(builds.SupportedTargets, Does.Contain(builds.ActiveTarget));
            Assert.That(new UnitySearch().Providers().Select(one => one.Id), Does.Contain("asset"));
        }

        [Test]
        public void The_package_of_an_assembly_is_told_from_the_projects_own_code()
        {
            Assert.That(ToolPackages.Of(typeof(NUnit.Framework.Assert).Assembly), Is.Not.Null);
            Assert.That(ToolPackages.Of(typeof(string).Assembly), Is.Null);
        }

        [Test]
        public void Text_is_put_onto_the_clipboard()
        {
            var before = EditorGUIUtility.systemCopyBuffer;
            EditorGUIUtility.systemCopyBuffer = "copied";
            Assert.That(EditorGUIUtility.systemCopyBuffer, Is.EqualTo("copied"));
            EditorGUIUtility.systemCopyBuffer = before;
        }
    }
}
