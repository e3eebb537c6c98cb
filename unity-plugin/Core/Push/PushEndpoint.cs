#nullable enable
using System;
using System.Globalization;
using System.Net;
using System.Text.RegularExpressions;

namespace JobBroker.Bridge.Push
{
    /// <summary>
    /// The address at which a worker listens for pushes. Only loopback: nobody may direct an Editor to another machine.
    /// </summary>
    internal sealed class PushEndpoint : IEquatable<PushEndpoint>
    {
        private const string Form = @"^(?:[A-Za-z]\w*://)?(?:([^:/\[\]]+|\[[0-9A-Fa-f:]+\]):)?([0-9]{1,5})/?\z";

        private PushEndpoint(string text, string? key, IPEndPoint address)
        {
            Text = text;
            Key = key;
            Address = address;
        }

        /// <summary>As it was announced.</summary>
        public string Text { get; }

        /// <summary>The secret that the worker expects with the first push; null when it announced none.</summary>
        public string? Key { get; }

        public IPEndPoint Address { get; }

        /// <summary>Reads `host:port`, `port` or `scheme://host:port`; null with a reason for anything else.</summary>
        public static PushEndpoint? Read(string text, string? key, out string reason)
        {
            reason = "no endpoint of the form host:port";
            var match = Regex.Match(text, Form, RegexOptions.CultureInvariant);
            if (!match.Success) return null;
            var port = int.Parse(match.Groups[2].Value, CultureInfo.InvariantCulture);
            if (port < 1 || port > 65535) return null;
            var host = match.Groups[1].Value.Trim('[', ']');
            reason = "not an address of this machine";
            if (host.Length == 0 || host.Equals("localhost", StringComparison.OrdinalIgnoreCase)) host = "127.0.0.1";
            return IPAddress.TryParse(host, out var address) && IPAddress.IsLoopback(address)
                ? new PushEndpoint(text, key, new IPEndPoint(address, port))
                : null;
        }

        public bool Equals(PushEndpoint? other) => other != null && Address.Equals(other.Address) && Key == other.Key;

        public override bool Equals(object? other) => Equals(other as PushEndpoint);

        public override int GetHashCode() => Address.GetHashCode();
    }
}
