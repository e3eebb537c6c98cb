using System.Collections;
using NUnit.Framework;
using UnityEditor;
using UnityEngine.TestTools;

namespace JobBroker.RealEditor.Tests
{
    public sealed class EditModeTests
    {
        [Test]
        public void Passes()
        {
        }

        [Test]
        public void Sees_the_projects_script() => Assert.That(ChangedScript.Number, Is.GreaterThan(0));

        [UnityTest]
        public IEnumerator Goes_over_frames()
        {
            yield return null;
            yield return null;
        }
    }

    /// <summary>The run goes on after the script domain of its middle has ended.</summary>
    public sealed class ReloadTests
    {
        [Test, Order(1)]
        public void Before_the_reload()
        {
        }

        [UnityTest, Order(2)]
        public IEnumerator The_reload()
        {
            EditorUtility.RequestScriptReload();
            yield return new WaitForDomainReload();
        }

        [Test, Order(3)]
        public void After_the_reload()
        {
        }
    }
}
