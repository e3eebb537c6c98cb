#nullable enable
namespace JobBroker.Bridge.Ports
{
    /// <summary>Text that survives a domain reload and not the process (Unity's SessionState). Main thread only.</summary>
    public interface ISessionStore
    {
        /// <summary>The stored text; null when nothing is stored under the key.</summary>
        string? Get(string key);

        /// <summary>Stores the text; null erases the key.</summary>
        void Set(string key, string? value);
    }
}
