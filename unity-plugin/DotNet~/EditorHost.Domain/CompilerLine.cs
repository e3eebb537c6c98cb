using System.Text.RegularExpressions;
using JobBroker.Bridge.Ports;

namespace JobBroker.EditorHost.Domain;

/// <summary>A line of the C# compiler: <c>file(line,column): error CS0000: message</c>.</summary>
internal static partial class CompilerLine
{
    public static CompilerMessage? Parse(string line)
    {
        var match = Shape().Match(line.Trim());
        if (!match.Success) return null;
        return new CompilerMessage(
            match.Groups[4].Value == "error",
            match.Groups[5].Value,
            match.Groups[1].Value,
            int.Parse(match.Groups[2].Value),
            int.Parse(match.Groups[3].Value));
    }

    [GeneratedRegex(@"^(.*)\((\d+),(\d+)\): (error|warning) (.*)$")]
    private static partial Regex Shape();
}
