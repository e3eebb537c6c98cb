#nullable disable
using JobBroker.EditorStubs;

namespace UnityEngine.SceneManagement
{
    public struct Scene
    {
        private readonly StubScene stub;

        internal Scene(StubScene stub)
        {
            this.stub = stub;
        }

        internal StubScene Stub => stub ?? StubEditor.Scenes[0];

        public string name => Stub.Name;

        public string path => Stub.Path;

        public bool isLoaded => true;

        public bool isDirty => Stub.IsDirty;

        public bool IsValid() => stub != null;

        public GameObject[] GetRootGameObjects() => Stub.Roots.ToArray();

        public static bool operator ==(Scene lhs, Scene rhs) => lhs.Stub == rhs.Stub;

        public static bool operator !=(Scene lhs, Scene rhs) => !(lhs == rhs);

        public override bool Equals(object other) => other is Scene scene && this == scene;

        public override int GetHashCode() => Stub.GetHashCode();
    }

    public class SceneManager
    {
        public static int sceneCount => StubEditor.Scenes.Count;

        public static Scene GetSceneAt(int index) => new Scene(StubEditor.Scenes[index]);

        public static Scene GetActiveScene() => new Scene(StubEditor.ActiveScene);
    }
}
