#nullable enable
using System.Collections.Generic;
using System.Linq;
using JobBroker.Bridge.Ports;
using UnityEditor;
using UnityEditor.PackageManager;
using UnityEditor.PackageManager.Requests;
using UnityEngine;
using PackageInfo = UnityEditor.PackageManager.PackageInfo;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Unity's Package Manager. Main thread only.</summary>
    internal sealed class UnityPackages : IPackages
    {
        public IReadOnlyList<InstalledPackage> Installed() => PackageInfo.GetAllRegisteredPackages()
            .Select(one => new InstalledPackage(
                one.name, one.version, one.source.ToString(), one.packageId, one.isDirectDependency))
            .ToList();

        public void BeginAdd(string id) => PackageRequests.instance.Began(Client.Add(id));

        public void BeginRemove(string name) => PackageRequests.instance.Began(Client.Remove(name));

        public PackageRequest Poll() => PackageRequests.instance.Poll();
    }

    /// <summary>
    /// The request under way: Unity carries this object, and with it the request's number, over a domain reload. Without it the
    /// reload's garbage collection would take the request away from the Package Manager.
    /// </summary>
    internal sealed class PackageRequests : ScriptableSingleton<PackageRequests>
    {
        /// <summary>What Unity says of a request that it does not know; it has no code of its own.</summary>
        private const string Forgotten = "Operation not found";

        [SerializeField] private AddRequest? add;
        [SerializeField] private RemoveRequest? remove;

        // Unity makes an empty request of one that is null.
        [SerializeField] private bool isAdding;
        [SerializeField] private bool isRemoving;

        public void Began(AddRequest request)
        {
            add = request;
            isAdding = true;
            isRemoving = false;
        }

        public void Began(RemoveRequest request)
        {
            remove = request;
            isAdding = false;
            isRemoving = true;
        }

        public PackageRequest Poll()
        {
            var request = isAdding ? add : isRemoving ? (Request?)remove : null;
            if (request == null) return new PackageRequest(PackageRequestState.Gone);
            if (request.Status == StatusCode.InProgress) return new PackageRequest(PackageRequestState.Running);
            if (request.Status == StatusCode.Failure)
            {
                var error = request.Error;
                return error == null || error.message == Forgotten
                    ? new PackageRequest(PackageRequestState.Gone)
                    : new PackageRequest(PackageRequestState.Failed, error.message);
            }
            var added = isAdding ? add!.Result : null;
            return new PackageRequest(PackageRequestState.Succeeded, "", added?.name ?? "", added?.version ?? "");
        }
    }
}
