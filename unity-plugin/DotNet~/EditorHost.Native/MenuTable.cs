using System.Globalization;
using System.Text.RegularExpressions;

namespace JobBroker.EditorHost.Native;

/// <summary>The menu items, and <c>Simulator/Block For [n] Seconds</c> that holds the main thread as a long item does.</summary>
public static partial class MenuTable
{
    public static readonly IReadOnlyList<string> Listed =
    [
        "Assets/Refresh",
        "Edit/Clear All PlayerPrefs",
        "File/Save Project",
        "GameObject/Create Empty",
        "Simulator/Block For 0.1 Seconds",
        "Simulator/Block For 2 Seconds",
        "Simulator/Block For 360 Seconds",
        "Simulator/Fail",
    ];

    public static bool Has(string path) => Listed.Contains(path) || BlockFor().IsMatch(path);

    /// <summary>Seconds that an item of this path holds the main thread; 0 for the others.</summary>
    public static double SecondsOf(string path)
    {
        var match = BlockFor().Match(path);
        return match.Success ? double.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture) : 0;
    }

    [GeneratedRegex(@"^Simulator/Block For (\d+(?:\.\d+)?) Seconds$")]
    private static partial Regex BlockFor();
}
