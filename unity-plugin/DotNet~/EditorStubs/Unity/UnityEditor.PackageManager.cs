#nullable disable
using System;
using JobBroker.EditorStubs;

namespace UnityEditor.PackageManager
{
    public enum PackageSource
    {
        Unknown,
        Registry,
        BuiltIn,
        Embedded,
        Local,
        Git,
        LocalTarball,
    }

    public enum StatusCode
    {
        InProgress,
        Success,
        Failure,
    }

    public class Error
    {
        public string message { get; internal set; }
    }

    public partial class PackageInfo
    {
        public string name { get; internal set; }

        public string version { get; internal set; }

        public PackageSource source { get; internal set; }

        public string packageId { get; internal set; }

        public bool isDirectDependency { get; internal set; }

        public static PackageInfo[] GetAllRegisteredPackages() => StubProject.Registered.ToArray();
    }

    public static class Client
    {
        public static Requests.AddRequest Add(string identifier) => new Requests.AddRequest { number = Begin("add " + identifier) };

        public static Requests.RemoveRequest Remove(string packageName) =>
            new Requests.RemoveRequest { number = Begin("remove " + packageName) };

        private static long Begin(string what)
        {
            StubProject.Calls.Add(what);
            StubProject.Requests.Add(StubProject.Requests.Count + 1, null);
            return StubProject.Requests.Count;
        }
    }
}

namespace UnityEditor.PackageManager.Requests
{
    /// <summary>What it says it asks the Package Manager for, by its number; without a number it is an empty one.</summary>
    [Serializable]
    public abstract class Request
    {
        internal long number;

        public StatusCode Status => !StubProject.Requests.TryGetValue(number, out var known)
            ? StatusCode.Failure
            : known == null ? StatusCode.InProgress : known.Error == null ? StatusCode.Success : StatusCode.Failure;

        public Error Error => Status != StatusCode.Failure || number == 0
            ? null
            : new Error { message = Known?.Error ?? "Operation not found" };

        private protected StubRequest Known => StubProject.Requests.TryGetValue(number, out var known) ? known : null;
    }

    public abstract class Request<T> : Request
    {
        public T Result => Made();

        internal abstract T Made();
    }

    [Serializable]
    public sealed class AddRequest : Request<PackageInfo>
    {
        internal override PackageInfo Made() => Known == null ? null : new PackageInfo { name = Known.Name, version = Known.Version };
    }

    [Serializable]
    public sealed class RemoveRequest : Request
    {
    }
}
