#nullable enable
using System.Security.Cryptography;
using System.Text;

namespace JobBroker.Bridge
{
    /// <summary>
    /// SHA-256 of a text's UTF-8. Not by SHA256.Create, with which Mono reads its machine.config, once in every script domain.
    /// </summary>
    internal static class Sha256
    {
        public static byte[] Of(string text)
        {
            using (var sha = new SHA256Managed()) return sha.ComputeHash(Encoding.UTF8.GetBytes(text));
        }
    }
}
