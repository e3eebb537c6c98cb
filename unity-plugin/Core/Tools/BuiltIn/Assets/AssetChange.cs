#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>One change of assets: everything that can be wrong with it is found before anything is changed.</summary>
    internal sealed class AssetChange
    {
        private readonly IAssets assets;
        private readonly ISceneQuery scene;
        private readonly ManageAssetsSchema wanted;

        public AssetChange(ToolServices services, ManageAssetsSchema wanted)
        {
            assets = services.Assets;
            scene = services.Scene;
            this.wanted = wanted;
        }

        /// <summary>Makes the change; throws a ToolException when it is not made, or not wholly.</summary>
        public ManageAssetsResponse Make()
        {
            switch (wanted.Action)
            {
                case AssetAction.Refresh:
                    assets.Refresh();
                    return new ManageAssetsResponse { Success = true, Action = AssetAction.Refresh };
                case AssetAction.Move:
                    return Transfer(assets.Move);
                case AssetAction.Copy:
                    return Transfer(assets.Copy);
                case AssetAction.Delete:
                    return Delete();
                case AssetAction.CreateFolder:
                    return CreateFolder();
                case AssetAction.CreateMaterial:
                    var material = NewPath(".mat");
                    return Place(material, () => assets.CreateMaterial(material, wanted.Shader));
                case AssetAction.CreatePrefab:
                    return CreatePrefab();
                default:
                    return Reimport();
            }
        }

        private ManageAssetsResponse Transfer(Func<string, string, string?> transfer)
        {
            var isMove = wanted.Action == AssetAction.Move;
            var from = isMove
                ? AssetPath.Writable(assets, nameof(wanted.Path), wanted.Path)
                : AssetPath.Readable(nameof(wanted.Path), wanted.Path);
            var source = AssetPath.Existing(assets, from);
            var to = AssetPath.Readable(nameof(wanted.Destination), wanted.Destination);
            var there = assets.Get(to);
            if (there != null && there.IsFolder && there.Guid != source.Guid) to += "/" + AssetPath.NameOf(from);
            AssetPath.Writable(assets, nameof(wanted.Destination), to);
            // Where letter case does not count, another spelling is the asset itself: a copy would first put it into the trash.
            var isItself = string.Equals(from, to, StringComparison.Ordinal) || (!isMove && assets.Get(to)?.Guid == source.Guid);
            if (isItself)
            {
                throw new ToolException(ToolException.InvalidArguments, $"Destination is where it is already: {to}");
            }
            if (to.StartsWith(from + "/", StringComparison.Ordinal))
            {
                throw new ToolException(ToolException.InvalidArguments, $"Destination is inside of Path: {to}");
            }
            // Where letter case does not count, the place of a new spelling is that of the asset itself.
            return Place(to, () => transfer(from, to), isMove ? source.Guid : null);
        }

        private ManageAssetsResponse Delete()
        {
            var path = AssetPath.Writable(assets, nameof(wanted.Path), wanted.Path);
            var gone = AssetPath.Existing(assets, path);
            Check(assets.MoveToTrash(path), $"move {path} to the trash", "Nothing was deleted.");
            return new ManageAssetsResponse
            {
                Success = true, Action = wanted.Action, Path = path, Guid = gone.Guid, Type = gone.Type, Trashed = path,
            };
        }

        /// <summary>With those above it that are missing.</summary>
        private ManageAssetsResponse CreateFolder()
        {
            var path = AssetPath.Writable(assets, nameof(wanted.Path), wanted.Path);
            var missing = new Stack<string>();
            for (var at = path; assets.Get(at)?.IsFolder != true; at = AssetPath.ParentOf(at))
            {
                if (assets.Get(at) != null || assets.IsOnDisk(at)) throw Exists(at);
                missing.Push(at);
            }
            var message = missing.Count == 0 ? "It was there already." : null;
            foreach (var at in missing)
            {
                Check(assets.CreateFolder(AssetPath.ParentOf(at), AssetPath.NameOf(at)), $"create the folder {at}");
            }
            return Answer(path, null, message);
        }

        private ManageAssetsResponse CreatePrefab()
        {
            var path = NewPath(".prefab");
            var source = TargetObject();
            RefuseWithoutFolder(path);
            // In its place, not by the trash: what refers to the old prefab refers to the new one then.
            var overwrites = wanted.Overwrite && assets.Get(path)?.IsFolder == false;
            if (!overwrites) RefuseExisting(path);
            Check(assets.CreatePrefab(source, path), $"create the prefab {path}");
            return Answer(path, null);
        }

        private ManageAssetsResponse Reimport()
        {
            var path = AssetPath.Readable(nameof(wanted.Path), wanted.Path);
            AssetPath.Existing(assets, path);
            assets.Reimport(path);
            return Answer(path, null);
        }

        private string NewPath(string extension)
        {
            var path = AssetPath.Writable(assets, nameof(wanted.Path), wanted.Path);
            if (path.EndsWith(extension, StringComparison.OrdinalIgnoreCase)) return path;
            throw new ToolException(ToolException.InvalidArguments, $"Path must end in {extension}: {path}");
        }

        /// <param name="own">Guid of the asset that may be there, because it is the one that moves.</param>
        private ManageAssetsResponse Place(string path, Func<string?> change, string? own = null)
        {
            RefuseWithoutFolder(path);
            var there = assets.Get(path);
            var trashed = there != null && there.Guid != own ? path : null;
            if (trashed != null && (!wanted.Overwrite || there!.IsFolder)) throw Exists(path);
            if (there == null && assets.IsOnDisk(path)) throw Exists(path);
            if (trashed != null) Check(assets.MoveToTrash(path), $"move {path} to the trash", "Nothing was changed.");
            Check(
                change(),
                $"{wanted.Action} to {path}",
                trashed == null ? "Nothing was changed." : "What was there before is in the trash.");
            return Answer(path, trashed);
        }

        private ManageAssetsResponse Answer(string path, string? trashed, string? message = null)
        {
            var made = assets.Get(path);
            return new ManageAssetsResponse
            {
                Success = true,
                Action = wanted.Action,
                Path = path,
                Guid = made?.Guid,
                Type = made?.Type,
                Trashed = trashed,
                Message = message,
            };
        }

        private SceneObject TargetObject()
        {
            if (wanted.Target.Length == 0) throw new ToolException(ToolException.InvalidArguments, "Target is required.");
            return Targets.Find(scene, wanted.Target);
        }

        private void RefuseWithoutFolder(string path)
        {
            var parent = AssetPath.ParentOf(path);
            if (assets.Get(parent)?.IsFolder == true) return;
            throw new ToolException("asset_not_found", $"There is no folder {parent}; CreateFolder makes it.");
        }

        private void RefuseExisting(string path)
        {
            if (assets.Get(path) != null || assets.IsOnDisk(path)) throw Exists(path);
        }

        private ToolException Exists(string path)
        {
            var known = assets.Get(path);
            return new ToolException("asset_exists", known == null
                ? $"A file that is not imported is at {path}; Refresh imports it. Nothing was changed."
                : known.IsFolder
                    ? $"There is a folder {path} already. Nothing was changed."
                    : $"There is {path} already ({known.Type}). Choose another path, or Overwrite. Nothing was changed.");
        }

        private static void Check(string? reason, string what, string then = "")
        {
            if (reason == null) return;
            throw new ToolException("asset_refused", $"Unity did not {what}: {reason.TrimEnd('.')}. {then}".TrimEnd());
        }
    }
}
