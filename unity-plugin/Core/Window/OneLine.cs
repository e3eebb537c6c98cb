#nullable enable
using System.Globalization;
using System.Text;

namespace JobBroker.Bridge.Window
{
    /// <summary>Text that others chose, as one line of bounded length.</summary>
    internal static class OneLine
    {
        private const char Cut = '…';

        /// <summary>
        /// Control characters, line ends, marks of direction and other format characters are replaced by their codes: they
        /// stay visible, and nothing else is left out.
        /// </summary>
        /// <param name="limit">In UTF-16 units, at least 2; an ellipsis included.</param>
        public static string Of(string text, int limit)
        {
            var line = new StringBuilder();
            for (var at = 0; at < text.Length && line.Length <= limit; at++)
            {
                var isPair = at + 1 < text.Length && char.IsSurrogatePair(text[at], text[at + 1]);
                var isShown = IsShown(char.GetUnicodeCategory(text, at));
                Append(line, text[at], isShown);
                if (isPair) Append(line, text[++at], isShown);
            }
            if (line.Length <= limit) return line.ToString().Trim();
            var length = char.IsHighSurrogate(line[limit - 2]) ? limit - 2 : limit - 1;
            return line.ToString(0, length).Trim() + Cut;
        }

        private static void Append(StringBuilder line, char one, bool isShown)
        {
            if (isShown) line.Append(one);
            else line.Append("\\u").Append(((int)one).ToString("x4", CultureInfo.InvariantCulture));
        }

        private static bool IsShown(UnicodeCategory category)
        {
            switch (category)
            {
                case UnicodeCategory.Control:
                case UnicodeCategory.Format:
                case UnicodeCategory.LineSeparator:
                case UnicodeCategory.ParagraphSeparator:
                case UnicodeCategory.Surrogate:
                    return false;
                default:
                    return true;
            }
        }
    }
}
