#nullable enable
namespace JobBroker.Bridge
{
    /// <summary>
    /// Patterns with <c>*</c> for any text, slashes included, and <c>?</c> for one character; letter case does not
    /// count.
    /// </summary>
    internal static class Glob
    {
        /// <summary>
        /// True when the pattern matches the whole text. Takes at most time proportional to the product of both
        /// lengths.
        /// </summary>
        public static bool Matches(string glob, string text)
        {
            int at = 0, star = -1, starText = 0, position = 0;
            while (position < text.Length)
            {
                if (at < glob.Length && glob[at] == '*')
                {
                    star = at++;
                    starText = position;
                }
                else if (at < glob.Length && (glob[at] == '?' || Same(glob[at], text[position])))
                {
                    at++;
                    position++;
                }
                else if (star >= 0)
                {
                    at = star + 1;
                    position = ++starText;
                }
                else
                {
                    return false;
                }
            }
            while (at < glob.Length && glob[at] == '*') at++;
            return at == glob.Length;
        }

        private static bool Same(char left, char right) => char.ToUpperInvariant(left) == char.ToUpperInvariant(right);
    }
}
