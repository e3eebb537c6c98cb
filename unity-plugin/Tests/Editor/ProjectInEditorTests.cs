#nullable enable
using System.Linq;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Unity;
using NUnit.Framework;

namespace JobBroker.Bridge.Editor.Tests
{
    /// <summary>That a real Editor's assets, packages and platforms are what the adapter takes them for.</summary>
    public sealed class ProjectInEditorTests
    {
        private const string Folder = "Assets/JobBrokerTest";

        private readonly UnityAssets assets = new UnityAssets();

        [TearDown]
        public void RemoveFolder()
        {
            if (assets.Get(Folder) != null) assets.MoveToTrash(Folder);
        }

        [Test]
        public void Assets_are_made_found_moved_and_put_into_the_trash()
        {
            Assert.That(assets.CreateFolder("Assets", "JobBrokerTest"), Is.Null);
            Assert.That(assets.CreateMaterial(Folder + "/One.mat", ""), Is.Null);
            Assert.That(assets.Copy(Folder + "/One.mat", Folder + "/Two.mat"), Is.Null);
            var guid = assets.Get(Folder + "/Two.mat")?.Guid;
            Assert.That(assets.Move(Folder + "/Two.mat", Folder + "/Three.mat"), Is.Null);
            Assert.That(assets.Get(Folder + "/Three.mat")?.Guid, Is.EqualTo(guid));
            Assert.That(assets.Get(Folder + "/Two.mat"), Is.Null);
            Assert.That(assets.Find("t:Material", new[] { Folder }).Count, Is.EqualTo(2));
            Assert.That(assets.Get("Assets")?.IsFolder, Is.True);
            Assert.That(assets.IsOnDisk(Folder + "/Three.mat"), Is.True);
            Assert.That(assets.MoveToTrash(Folder), Is.Null);
            Assert.That(assets.Get(Folder), Is.Null);
        }

        [Test]
        public void This_package_is_registered_and_this_platform_is_supported()
        {
            var names = new UnityPackages().Installed().Select(one => one.Name);
            Assert.That(names, Does.Contain("org.jobbroker.unity-bridge"));
            Assert.That(new UnityPackages().Poll().State, Is.Not.EqualTo(PackageRequestState.Running));
            var builds = new UnityBuilds(() => { });
            Assert.That(builds.SupportedTargets, Does.Contain(builds.ActiveTarget));
        }
    }
}
