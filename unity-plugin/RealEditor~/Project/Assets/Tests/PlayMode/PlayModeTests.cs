using System.Collections;
using NUnit.Framework;
using UnityEngine;
using UnityEngine.TestTools;

namespace JobBroker.RealEditor.Tests
{
    public sealed class PlayModeTests
    {
        [UnityTest]
        public IEnumerator Plays_for_some_frames()
        {
            Assert.That(Application.isPlaying, Is.True);
            for (var frame = 0; frame < 10; frame++) yield return null;
        }

        [Test]
        public void Passes()
        {
        }
    }
}
