#nullable enable
using System;
using System.IO;
using JobBroker.Metas;

// Arguments: the package's folder; then "check" to look only.
if (args.Length == 0 || !File.Exists(Path.Combine(args[0], "package.json")))
{
    Console.Error.WriteLine("usage: Metas <folder of the package> [check]");
    return 2;
}
var tree = new MetaTree(args[0]);
if (args.Length == 1)
{
    foreach (var path in tree.Generate()) Console.WriteLine($"made {path}.meta");
}
var faults = tree.Faults();
foreach (var fault in faults) Console.Error.WriteLine(fault);
return faults.Count == 0 ? 0 : 1;
