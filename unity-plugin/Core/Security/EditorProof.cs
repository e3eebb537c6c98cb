#nullable enable
using System;
using System.Net;
using System.Security.Cryptography;
using System.Text;

namespace JobBroker.Bridge.Security
{
    /// <summary>What a proof is made of beside the token.</summary>
    internal sealed class Challenge
    {
        public Challenge(string workerNonce, string editorNonce, string address)
        {
            WorkerNonce = workerNonce;
            EditorNonce = editorNonce;
            Address = address;
        }

        public string WorkerNonce { get; }

        public string EditorNonce { get; }

        /// <summary>Where the Editor listens, as <see cref="EditorProof.AddressOf"/> writes it.</summary>
        public string Address { get; }
    }

    /// <summary>
    /// How a worker and this Editor prove to each other that both hold the Editor's token, which itself never travels
    /// (docs/reference/protocol.md, "Hello and fencing"). Each side answers the other's nonce, so that nothing heard
    /// earlier serves
    /// again; the role keeps a proof from being sent back; the address keeps it from being relayed to another port.
    /// </summary>
    internal static class EditorProof
    {
        public const string Editor = "editor";
        public const string Worker = "worker";

        private const int NonceBytes = 24;

        /// <summary>A fresh nonce: 32 characters of base64url.</summary>
        public static string NewNonce()
        {
            var bytes = new byte[NonceBytes];
            using (var random = RandomNumberGenerator.Create()) random.GetBytes(bytes);
            return Convert.ToBase64String(bytes).Replace('+', '-').Replace('/', '_');
        }

        /// <summary>`host:port`; an IPv4 address that is wrapped as IPv6 is written as IPv4.</summary>
        public static string AddressOf(IPEndPoint end)
        {
            var host = end.Address.IsIPv4MappedToIPv6 ? end.Address.MapToIPv4() : end.Address;
            return host + ":" + end.Port.ToString(System.Globalization.CultureInfo.InvariantCulture);
        }

        /// <summary>HMAC-SHA-256 as 64 hexadecimal digits. No part may contain a line break.</summary>
        public static string Of(string role, string token, Challenge challenge)
        {
            var text = string.Join("\n", role, challenge.WorkerNonce, challenge.EditorNonce, challenge.Address);
            using var hmac = new HMACSHA256(Encoding.UTF8.GetBytes(token));
            var digest = hmac.ComputeHash(Encoding.UTF8.GetBytes(text));
            return BitConverter.ToString(digest).Replace("-", "").ToLowerInvariant();
        }

        /// <summary>
        /// Takes the same time for every proof of the right length. An empty token is never proven.
        /// </summary>
        public static bool IsProof(string proof, string role, string token, Challenge challenge)
        {
            if (token.Length == 0) return false;
            var expected = Of(role, token, challenge);
            if (proof.Length != expected.Length) return false;
            var difference = 0;
            for (var at = 0; at < expected.Length; at++) difference |= proof[at] ^ expected[at];
            return difference == 0;
        }
    }
}
