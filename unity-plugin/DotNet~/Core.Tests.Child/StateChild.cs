using System;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Session;

namespace JobBroker.Bridge.Tests.Child;

/// <summary>Takes a state folder as whatever user the process runs as.</summary>
internal static class StateChild
{
    public static void Own(string folder)
    {
        try
        {
            new StateFolders(new BridgeOptions { StateFolder = folder }, "game").RestrictToUser();
            Console.WriteLine("owned");
        }
        catch (LedgerUnavailableException error)
        {
            Console.WriteLine("refused " + error.Message);
        }
    }
}
