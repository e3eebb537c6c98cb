#nullable enable
namespace System.Runtime.CompilerServices
{
    /// <summary>What the compiler wants for init accessors; Unity's class library has none.</summary>
    internal static class IsExternalInit
    {
    }
}
