using System;
using JobBroker.Bridge.Tests.Child;

// The first argument says what to do, the second mostly names a folder. Every line on the standard output is a
// fact that the parent may check after this process was killed.
switch (args[0])
{
    case "ledger-append":
        LedgerChild.Append(args[1]);
        return 0;
    case "ledger-hold":
        LedgerChild.Hold(args[1]);
        return 0;
    case "ledger-fill":
        LedgerChild.Fill(args[1], args.Length > 2 ? args[2] : null);
        return 0;
    case "ledger-open":
        LedgerChild.OpenOnce(args[1]);
        return 0;
    case "wire-serve":
        WireChild.Serve();
        return 0;
    case "wire-ask":
        WireChild.Ask(int.Parse(args[1]), args.Length > 2);
        return 0;
    case "wire-leave":
        WireChild.Leave(int.Parse(args[1]), 200);
        return 0;
    case "wire-heard":
        WireChild.Heard(int.Parse(args[1]));
        return 0;
    case "state-own":
        StateChild.Own(args[1]);
        return 0;
    default:
        Console.Error.WriteLine($"There is no command {args[0]}.");
        return 2;
}
