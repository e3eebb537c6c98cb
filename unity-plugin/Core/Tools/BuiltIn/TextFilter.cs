#nullable enable
using System;
using System.Text.RegularExpressions;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Text and regular expressions that callers search with.</summary>
    internal static class TextFilter
    {
        /// <summary>A caller's expression must not hold a lane: one match may take this long.</summary>
        private static readonly TimeSpan MatchTimeout = TimeSpan.FromMilliseconds(250);

        /// <summary>.NET reads nested character classes by recursion: a longer expression could end the Editor by its stack.</summary>
        private const int LongestExpression = 4000;

        /// <summary>Whether a text contains the filter; empty is in all of them. Letter case counts.</summary>
        /// <param name="parameter">Named in the ToolException of type invalid_arguments for an expression that is
        /// none.</param>
        public static Func<string, bool> For(string parameter, string wanted, bool isRegex)
        {
            if (!isRegex) return text => text.IndexOf(wanted, StringComparison.Ordinal) >= 0;
            var expression = Expression(parameter, wanted);
            return text =>
            {
                try
                {
                    return expression.IsMatch(text);
                }
                catch (RegexMatchTimeoutException)
                {
                    throw new ToolException(
                        ToolException.InvalidArguments,
                        $"{parameter} takes too long to match; write a simpler regular expression.");
                }
            };
        }

        /// <summary>Throws a ToolException of type invalid_arguments when the text is no regular expression.</summary>
        public static Regex Expression(string parameter, string pattern)
        {
            if (pattern.Length > LongestExpression)
            {
                throw new ToolException(
                    ToolException.InvalidArguments,
                    $"{parameter} is a regular expression of {pattern.Length} characters; at most {LongestExpression} are read. "
                        + "Write a simpler one.");
            }
            try
            {
                return new Regex(pattern, RegexOptions.CultureInvariant, MatchTimeout);
            }
            catch (ArgumentException error)
            {
                throw new ToolException(
                    ToolException.InvalidArguments,
                    $"{parameter} is not a regular expression: {error.Message}");
            }
        }
    }
}
