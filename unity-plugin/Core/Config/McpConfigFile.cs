#nullable enable
namespace JobBroker.Bridge.Config
{
    /// <summary>A client's file as it was read; never changes.</summary>
    public sealed class McpConfigFile
    {
        internal McpConfigFile(string path, byte[]? bytes, string text)
        {
            Path = path;
            Bytes = bytes;
            Text = text;
        }

        /// <summary>As the client names it; may be a symbolic link.</summary>
        public string Path { get; }

        /// <summary>Without the byte order mark; empty when there is no file.</summary>
        public string Text { get; }

        public bool Exists => Bytes != null;

        internal byte[]? Bytes { get; }
    }
}
