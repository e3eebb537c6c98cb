#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEditor.SceneManagement;
using UnityEditorInternal;
using UnityEngine;
using UnityEngine.SceneManagement;

namespace JobBroker.Bridge.Unity
{
    /// <summary>What a person sees at a glance. Main thread only.</summary>
    internal sealed class UnityState : IEditorState
    {
        private const int LayerCount = 32;

        public string? OpenPrefab
        {
            get
            {
                var stage = PrefabStageUtility.GetCurrentPrefabStage();
                return stage == null ? null : stage.assetPath;
            }
        }

        public IReadOnlyList<OpenScene> Scenes()
        {
            var active = SceneManager.GetActiveScene();
            return Enumerable.Range(0, SceneManager.sceneCount).Select(SceneManager.GetSceneAt).Select(scene => new OpenScene
            {
                Name = scene.name,
                Path = scene.path,
                IsLoaded = scene.isLoaded,
                IsDirty = scene.isDirty,
                IsActive = scene.Equals(active),
            }).ToList();
        }

        public IReadOnlyList<SelectedObject> Selected() =>
            Selection.objects.Where(one => one != null).Select(Described).ToList();

        public IReadOnlyList<string> Tags() => InternalEditorUtility.tags;

        public IReadOnlyList<string> Layers() =>
            Enumerable.Range(0, LayerCount).Select(layer => LayerMask.LayerToName(layer) ?? "").ToList();

        private static SelectedObject Described(Object one)
        {
            var asset = AssetDatabase.GetAssetPath(one);
            var isAsset = !string.IsNullOrEmpty(asset);
            return new SelectedObject
            {
                Name = one.name,
                Type = one.GetType().Name,
                AssetPath = isAsset ? asset : null,
                Path = !isAsset && one is GameObject inScene ? "/" + UnityScenes.PathOf(inScene) : null,
            };
        }
    }
}
