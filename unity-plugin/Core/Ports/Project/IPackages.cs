#nullable enable
using System.Collections.Generic;

namespace JobBroker.Bridge.Ports
{
    /// <summary>A package that the Editor has registered: its files are part of the project.</summary>
    public sealed class InstalledPackage
    {
        public InstalledPackage(string name, string version, string source, string id, bool isDirect)
        {
            Name = name;
            Version = version;
            Source = source;
            Id = id;
            IsDirect = isDirect;
        }

        public string Name { get; }

        public string Version { get; }

        /// <summary>Unity's word for where it comes from: Registry, BuiltIn, Embedded, Local, Git, LocalTarball.</summary>
        public string Source { get; }

        /// <summary>Name, an at sign, and a version, a URL or a path.</summary>
        public string Id { get; }

        /// <summary>False for one that only other packages need.</summary>
        public bool IsDirect { get; }
    }

    public enum PackageRequestState
    {
        Running,
        Succeeded,
        Failed,

        /// <summary>The Package Manager does not know a request any more: what became of it must be looked for.</summary>
        Gone,
    }

    /// <summary>How the request that was begun last stands.</summary>
    public sealed class PackageRequest
    {
        public PackageRequest(PackageRequestState state, string message = "", string name = "", string version = "")
        {
            State = state;
            Message = message;
            Name = name;
            Version = version;
        }

        public PackageRequestState State { get; }

        /// <summary>Unity's reason of a failure.</summary>
        public string Message { get; }

        /// <summary>What was added; empty where nothing was.</summary>
        public string Name { get; }

        public string Version { get; }
    }

    /// <summary>
    /// Unity's Package Manager: one request at a time, in a process of its own, which goes on during a domain reload. Main
    /// thread only.
    /// </summary>
    public interface IPackages
    {
        IReadOnlyList<InstalledPackage> Installed();

        /// <summary>Begins to add a package, or to change its version.</summary>
        /// <param name="id">A name, name@version, a git URL, or a path that begins with file:.</param>
        void BeginAdd(string id);

        void BeginRemove(string name);

        PackageRequest Poll();
    }
}
