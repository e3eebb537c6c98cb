#nullable enable
using System;
using System.Globalization;

namespace JobBroker.Bridge.Framing
{
    /// <summary>
    /// The lines before a body. A line that is not `Name: value`, or is an HTTP header, is refused with a reason.
    /// </summary>
    internal static class FrameHeader
    {
        private const string TokenMarks = "!#$%&'*+-.^_`|~";

        /// <summary>The length of the body, or -1 with a reason.</summary>
        public static long ReadContentLength(string header, out string reason)
        {
            var length = -1L;
            foreach (var line in header.Split(new[] { "\r\n" }, StringSplitOptions.None))
            {
                reason = Problem(line);
                if (reason.Length > 0) return -1;
                var colon = line.IndexOf(':');
                var name = line.Substring(0, colon);
                if (!name.Equals("content-length", StringComparison.OrdinalIgnoreCase)) continue;
                var value = line.Substring(colon + 1).Trim(' ', '\t');
                if (value.Length > 15
                    || !long.TryParse(value, NumberStyles.None, CultureInfo.InvariantCulture, out var read))
                {
                    reason = "Content-Length is not a number: " + Quoted(value);
                    return -1;
                }
                reason = "two different Content-Length headers";
                if (length >= 0 && length != read) return -1;
                length = read;
            }
            reason = length < 0 ? "no Content-Length header" : "";
            return length;
        }

        /// <summary>
        /// The problem of a line, or empty. A web page's POST must never be taken for a frame.
        /// </summary>
        public static string Problem(string line)
        {
            var colon = 0;
            while (colon < line.Length && IsTokenMark(line[colon])) colon++;
            if (colon == 0 || colon == line.Length || line[colon] != ':' || line.IndexOfAny(new[] { '\r', '\n' }) >= 0)
            {
                return "not a header line: " + Quoted(line);
            }
            var name = line.Substring(0, colon).ToLowerInvariant();
            return name == "host" || name == "origin" ? "HTTP is not spoken here (" + name + " header)" : "";
        }

        private static bool IsTokenMark(char c) =>
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || TokenMarks.IndexOf(c) >= 0;

        private static string Quoted(string text) =>
            "\"" + (text.Length > 60 ? text.Substring(0, 60) + "…" : text) + "\"";
    }
}
