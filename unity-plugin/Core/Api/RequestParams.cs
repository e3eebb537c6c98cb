#nullable enable
using System;
using System.Collections.Generic;
using System.Linq;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>Invalid parameters: answered as -32602 with this message.</summary>
    public sealed class InvalidParamsException : Exception
    {
        public InvalidParamsException(string message) : base(message)
        {
        }
    }

    /// <summary>The parameters of one request; extra ones are ignored, because a newer peer may send more.</summary>
    public sealed class RequestParams
    {
        private readonly JObject values;

        public RequestParams(JToken? parameters)
        {
            values = parameters as JObject ?? throw new InvalidParamsException("The parameters must be an object.");
        }

        public string Text(string name) =>
            OptionalText(name) ?? throw new InvalidParamsException($"{name} must be a string.");

        /// <summary>Null when it is absent or null.</summary>
        public string? OptionalText(string name)
        {
            var value = values[name];
            if (value == null || value.Type == JTokenType.Null) return null;
            if (value.Type != JTokenType.String) throw new InvalidParamsException($"{name} must be a string.");
            return (string?)value;
        }

        /// <summary>22 to 128 characters of base64url: at least 16 random bytes, and no line break.</summary>
        public string Nonce(string name)
        {
            var text = Text(name);
            var isNonce = text.Length >= 22 && text.Length <= 128 && text.All(IsBase64Url);
            if (!isNonce) throw new InvalidParamsException($"{name} must be 22 to 128 characters of base64url.");
            return text;
        }

        /// <summary>A whole number from 0.</summary>
        public long Count(string name)
        {
            var value = values[name];
            if (value == null || value.Type != JTokenType.Integer || !InRange((JValue)value))
            {
                throw new InvalidParamsException($"{name} must be a whole number from 0.");
            }
            return value.Value<long>();
        }

        /// <summary>False when it is absent.</summary>
        public bool Flag(string name)
        {
            var value = values[name];
            if (value == null || value.Type == JTokenType.Null) return false;
            if (value.Type != JTokenType.Boolean) throw new InvalidParamsException($"{name} must be true or false.");
            return (bool)value;
        }

        public IReadOnlyList<string> Texts(string name)
        {
            if (!(values[name] is JArray array)) throw new InvalidParamsException($"{name} must be an array of strings.");
            var texts = new List<string>();
            foreach (var item in array)
            {
                if (item.Type != JTokenType.String)
                {
                    throw new InvalidParamsException($"{name} must be an array of strings.");
                }
                texts.Add((string)item!);
            }
            return texts;
        }

        private static bool IsBase64Url(char one) =>
            (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') || (one >= '0' && one <= '9')
            || one == '-' || one == '_';

        private static bool InRange(JValue value) => value.Value is long number && number >= 0;
    }
}
