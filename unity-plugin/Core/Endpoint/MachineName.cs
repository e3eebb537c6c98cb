#nullable enable
using System.IO;

namespace JobBroker.Bridge.Endpoint
{
    /// <summary>
    /// This machine's name in the ids of its Editors: the host name as it was when this user's first Editor or broker asked. It is
    /// kept in a file, because the host name of a Mac changes with the network. The broker reads the same file
    /// (src/shared/machine/this-machine.ts).
    /// </summary>
    internal static class MachineName
    {
        /// <summary>Throws IOException and UnauthorizedAccessException: another name would mean another Editor, and another ledger.</summary>
        public static string Of(string stateFolder, string hostName)
        {
            var file = Path.Combine(stateFolder, "machine");
            if (!File.Exists(file))
            {
                PrivateFolder.RestrictToUser(stateFolder);
                PrivateFile.CreateOnce(file, hostName + "\n");
            }
            return File.ReadAllText(file).Trim();
        }
    }
}
