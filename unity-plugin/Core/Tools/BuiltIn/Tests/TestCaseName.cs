#nullable enable
namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>Takes the full name of a test apart: the dots within arguments do not separate.</summary>
    internal static class TestCaseName
    {
        /// <summary>Namespace and class, with the arguments of the fixture; empty when there is no dot.</summary>
        public static string ClassOf(string fullName)
        {
            var dot = LastDot(fullName);
            return dot < 0 ? "" : fullName.Substring(0, dot);
        }

        /// <summary>The method with its arguments.</summary>
        public static string NameOf(string fullName) => fullName.Substring(LastDot(fullName) + 1);

        private static int LastDot(string name)
        {
            var last = -1;
            var depth = 0;
            char quote = '\0';
            for (var index = 0; index < name.Length; index++)
            {
                var letter = name[index];
                if (quote != '\0')
                {
                    if (letter == '\\') index++;
                    else if (letter == quote) quote = '\0';
                }
                else if (depth > 0 && (letter == '"' || letter == '\'')) quote = letter;
                else if (letter == '(' || letter == '<') depth++;
                else if ((letter == ')' || letter == '>') && depth > 0) depth--;
                else if (letter == '.' && depth == 0) last = index;
            }
            return last;
        }
    }
}
