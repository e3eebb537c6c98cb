using System;
using System.Collections.Generic;
using System.Linq;

namespace JobBroker.EditorHost.Native.Scenes;

/// <summary>An open scene, or the prefab of Prefab Mode.</summary>
public sealed class NodeScene(string path, bool isPrefab = false)
{
    /// <summary>Empty while it was never saved.</summary>
    public string Path { get; set; } = path;

    public bool IsPrefab { get; } = isPrefab;

    public bool IsDirty { get; set; }

    public List<SceneNode> Roots { get; set; } = [];

    public string Name => Path.Length == 0 ? "Untitled" : System.IO.Path.GetFileNameWithoutExtension(Path);
}

/// <summary>Scenes, prefabs and Undo as the Editor's native side has them: a domain reload does not touch them. Main thread only.</summary>
public sealed class SceneWorld
{
    public const string First = "Assets/Scenes/SampleScene.unity";
    public const string Second = "Assets/Scenes/Menu.unity";
    public const string Enemy = "Assets/Prefabs/Enemy.prefab";

    /// <summary>More objects are only listed, one by one: a test counts the memory that such a list takes.</summary>
    public const int Most = 1000;

    private readonly Dictionary<string, List<SceneNode>> files = [];
    private readonly Stack<(string Name, Dictionary<NodeScene, State> Before)> undo = new();
    private readonly List<NodeScene> scenes = [];
    private readonly Func<int> wanted;
    private readonly Func<bool> plays;
    private int filled;
    private long last = 1000;
    private int depth;

    /// <param name="wanted">How many objects the first scene has; when that changes, it is filled anew.</param>
    /// <param name="plays">Whether the Editor is in play mode.</param>
    public SceneWorld(Func<int> wanted, Func<bool> plays)
    {
        this.wanted = wanted;
        this.plays = plays;
        var enemy = Made("Enemy", "BoxCollider", "Mover");
        Made("Gun").Attach(enemy);
        files[Enemy] = [enemy];
        files[Second] = [Made("Menu Camera", "Camera")];
        files[First] = [];
        scenes.Add(new NodeScene(First));
    }

    public List<NodeScene> Scenes
    {
        get
        {
            if (filled == wanted()) return scenes;
            filled = wanted();
            Fill(Math.Min(filled, Most));
            return scenes;
        }
    }

    /// <summary>The prefab that is open in Prefab Mode.</summary>
    public NodeScene? Prefab { get; private set; }

    public bool IsPlaying => plays();

    public IEnumerable<NodeScene> Open => Prefab == null ? Scenes : Scenes.Append(Prefab);

    /// <summary>How many objects there are to list; 0 when they are all in <see cref="Open"/>.</summary>
    public int Listed => wanted() > Most ? wanted() : 0;

    public IEnumerable<string> SceneFiles => files.Keys.Where(path => path.EndsWith(".unity", StringComparison.Ordinal));

    /// <summary>Names of the steps that can be undone, the newest first.</summary>
    public IEnumerable<string> UndoSteps => undo.Select(step => step.Name);

    public SceneNode Made(string name, params string[] components)
    {
        var node = new SceneNode(++last, name);
        foreach (var type in components.Prepend("Transform")) node.Components.Add(new NodeComponent(type));
        return node;
    }

    public SceneNode? Find(long number) => Open
        .SelectMany(scene => scene.Roots)
        .SelectMany(root => root.All)
        .FirstOrDefault(one => one.Number == number);

    public NodeScene SceneOf(SceneNode node) => Open.First(scene => scene.Roots.Contains(node.Root));

    public bool IsPrefab(string path) => files.ContainsKey(path) && path.EndsWith(".prefab", StringComparison.Ordinal);

    public SceneNode Instance(string prefab) => files[prefab][0].Instance(() => ++last);

    public void Load(string path, bool additive)
    {
        if (!additive) Leave();
        var open = Scenes.Find(scene => scene.Path == path);
        if (open != null) return;
        Scenes.Add(new NodeScene(path) { Roots = files[path].Select(root => root.Clone()).ToList() });
    }

    public NodeScene Make(bool empty, bool additive)
    {
        if (additive && Scenes.Any(scene => scene.Path.Length == 0)) throw new InvalidOperationException("A scene is untitled.");
        if (!additive) Leave();
        var made = new NodeScene("");
        if (!empty) made.Roots.AddRange([Made("Main Camera", "Camera"), Made("Directional Light", "Light")]);
        Scenes.Add(made);
        return made;
    }

    public bool Save(NodeScene scene, string path)
    {
        // Folders that do not exist are named so.
        if (path.IndexOf("/Missing/", StringComparison.Ordinal) >= 0) return false;
        scene.Path = path;
        scene.IsDirty = false;
        files[path] = scene.Roots.Select(root => root.Clone()).ToList();
        return true;
    }

    public void OpenPrefab(string path)
    {
        // One that is filled anew leaves Prefab Mode.
        _ = Scenes;
        Prefab = new NodeScene(path, true) { Roots = [files[path][0].Instance(() => ++last)] };
    }

    /// <summary>Whatever is done to the end of the step can be undone at once.</summary>
    public UndoStep Begin(string name)
    {
        depth++;
        return new UndoStep(this, name, Snapshot());
    }

    public void Undo() => Restore(undo.Pop().Before);

    /// <summary>Every hundredth object is a root; the others are below it.</summary>
    private void Fill(int count)
    {
        var roots = new List<SceneNode>();
        for (var index = 0; index < count; index++)
        {
            var isRoot = index % 100 == 0;
            var made = Made(isRoot ? $"Root{index / 100}" : $"Object{index}", index % 3 == 0 ? "Camera" : "MeshRenderer");
            if (isRoot) roots.Add(made);
            else made.Attach(roots[^1]);
        }
        files[First] = roots;
        Leave();
        scenes.Add(new NodeScene(First) { Roots = roots.Select(root => root.Clone()).ToList() });
    }

    private void Leave()
    {
        scenes.Clear();
        Prefab = null;
        undo.Clear();
    }

    private Dictionary<NodeScene, State> Snapshot() => Open.ToDictionary(
        scene => scene, scene => new State(scene.Roots.Select(root => root.Clone()).ToList(), scene.IsDirty));

    private void Restore(Dictionary<NodeScene, State> before)
    {
        foreach (var scene in before)
        {
            scene.Key.Roots = scene.Value.Roots;
            scene.Key.IsDirty = scene.Value.IsDirty;
        }
    }

    private sealed record State(List<SceneNode> Roots, bool IsDirty);

    /// <summary>A step that is being done.</summary>
    public sealed class UndoStep : IDisposable
    {
        private readonly SceneWorld world;
        private readonly string name;
        private readonly Dictionary<NodeScene, State> before;
        private bool isComplete;

        internal UndoStep(SceneWorld world, string name, object before)
        {
            this.world = world;
            this.name = name;
            this.before = (Dictionary<NodeScene, State>)before;
        }

        public void Complete() => isComplete = true;

        public void Dispose()
        {
            world.depth--;
            if (!isComplete) world.Restore(before);
            else if (world.depth == 0) world.undo.Push((name, before));
        }
    }
}
