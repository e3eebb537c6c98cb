#nullable enable
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text.RegularExpressions;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Code
{
    /// <summary>The lines that the C# compiler writes: file(line,column): error CS0103: text.</summary>
    public static class CompilerOutput
    {
        private static readonly Regex Line = new Regex(
            @"^(?:(?<file>.*?)\((?<line>\d+),(?<column>\d+)\): )?(?<kind>error|warning) (?<text>\w+: .*)$",
            RegexOptions.CultureInvariant);

        public static IReadOnlyList<CompilerMessage> Parse(string output) =>
            output.Split('\n').Select(row => Line.Match(row.TrimEnd('\r'))).Where(match => match.Success).Select(Message).ToList();

        private static CompilerMessage Message(Match match) => new CompilerMessage(
            match.Groups["kind"].Value == "error",
            match.Groups["text"].Value,
            match.Groups["file"].Value,
            Number(match.Groups["line"]),
            Number(match.Groups["column"]));

        private static int Number(Group group) =>
            int.TryParse(group.Value, NumberStyles.None, CultureInfo.InvariantCulture, out var number) ? number : 0;
    }
}
