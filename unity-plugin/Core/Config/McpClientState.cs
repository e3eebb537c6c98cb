#nullable enable
namespace JobBroker.Bridge.Config
{
    public enum ClientInstallation
    {
        /// <summary>The file has no entry of ours.</summary>
        Absent,

        /// <summary>The entry is there, as this package would write it.</summary>
        Installed,

        /// <summary>The entry is ours, in other words: another start command, or by address.</summary>
        Different,

        /// <summary>Another server has the name.</summary>
        Foreign,

        /// <summary>The file cannot be read or understood.</summary>
        Unreadable,

        /// <summary>Only the command line can install: a format that only it edits, or a broker that only it knows.</summary>
        CommandLineOnly,
    }

    /// <summary>One client's file as it stands; never changes.</summary>
    public sealed class McpClientState
    {
        public McpClientState(McpClient client, string path, ClientInstallation installation, string note)
        {
            Client = client;
            Path = path;
            Installation = installation;
            Note = note;
        }

        public McpClient Client { get; }

        public string Path { get; }

        public ClientInstallation Installation { get; }

        /// <summary>What people should know of it; empty when the state says all.</summary>
        public string Note { get; }
    }

    /// <summary>What became of a change to a client's file.</summary>
    public sealed class McpConfigResult
    {
        public McpConfigResult(bool written, string message, string? backup)
        {
            Written = written;
            Message = message;
            Backup = backup;
        }

        public bool Written { get; }

        /// <summary>For people: what happened, and what to do for the client to notice.</summary>
        public string Message { get; }

        /// <summary>Where the copy of the old file is; null when there was none.</summary>
        public string? Backup { get; }
    }
}
