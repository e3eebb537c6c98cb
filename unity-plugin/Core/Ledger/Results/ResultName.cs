#nullable enable
using System.Text;
using System.Text.RegularExpressions;

namespace JobBroker.Bridge.Ledger
{
    /// <summary>
    /// The file name of an operation's result. An id that is no lower-case UUID may hold anything (slashes, names that
    /// Windows reserves, letters that only differ in case), so its digest stands for it.
    /// </summary>
    internal static class ResultName
    {
        public const string Extension = ".json";

        /// <summary>Results of reads, which are worthless after a domain reload.</summary>
        public const string ReadExtension = ".read.json";

        public static string Of(string operationId, bool readOnly = false)
        {
            var name = Regex.IsMatch(operationId, @"\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z")
                ? operationId
                : "x" + Digest(operationId);
            return name + (readOnly ? ReadExtension : Extension);
        }

        private static string Digest(string operationId)
        {
            var hex = new StringBuilder(64);
            foreach (var octet in Sha256.Of(operationId)) hex.Append(octet.ToString("x2"));
            return hex.ToString();
        }
    }
}
