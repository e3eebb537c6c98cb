#nullable enable
using System.Reflection;
using UnityEditor.PackageManager;

namespace JobBroker.Bridge.Unity
{
    /// <summary>Which assemblies are other people's code. Main thread only.</summary>
    internal static class ToolPackages
    {
        /// <summary>
        /// The package that an assembly came with; null for what lies in the project, or beside it on this disk: those who work on
        /// the project have written that, or can read it where it is.
        /// </summary>
        public static string? Of(Assembly assembly)
        {
            var package = PackageInfo.FindForAssembly(assembly);
            var isOwn = package == null || package.source == PackageSource.Embedded || package.source == PackageSource.Local;
            return isOwn ? null : package!.name;
        }
    }
}
