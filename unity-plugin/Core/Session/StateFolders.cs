#nullable enable
using System;
using System.IO;
using JobBroker.Bridge.Endpoint;
using JobBroker.Bridge.Ledger;

namespace JobBroker.Bridge.Session
{
    /// <summary>Where this user's state is: endpoint files with tokens, ledgers with arguments and results.</summary>
    internal sealed class StateFolders
    {
        private readonly BridgeOptions options;

        public StateFolders(BridgeOptions options, string editorId)
        {
            this.options = options;
            Editors = options.EndpointFolder ?? Path.Combine(options.StateFolder, "editors");
            Ledger = options.LedgerFolder ?? Path.Combine(options.StateFolder, "ledger", editorId);
        }

        public string Editors { get; }

        public string Ledger { get; }

        /// <summary>
        /// Restricts the folders in the state folder to this user. Folders set in the options keep their rights. Throws
        /// <see cref="LedgerUnavailableException"/> with instructions.
        /// </summary>
        public void RestrictToUser()
        {
            try
            {
                if (options.EndpointFolder == null || options.LedgerFolder == null) PrivateFolder.RestrictToUser(options.StateFolder);
                if (options.EndpointFolder == null) PrivateFolder.RestrictToUser(Editors);
                if (options.LedgerFolder != null) return;
                PrivateFolder.RestrictToUser(Path.GetDirectoryName(Ledger)!);
                RestrictWithFiles(Ledger);
                RestrictWithFiles(Path.Combine(Ledger, "results"));
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                throw new LedgerUnavailableException(error.Message, error);
            }
        }

        private static void RestrictWithFiles(string folder)
        {
            PrivateFolder.RestrictToUser(folder);
            foreach (var file in Directory.GetFiles(folder))
            {
                if (PrivateFile.TryTighten(file)) continue;
                throw new UnauthorizedAccessException(
                    $"The file {file} belongs to another user. Look at it, then give it to this user or remove it: "
                    + $"\"rm '{file}'\".");
            }
        }
    }
}
