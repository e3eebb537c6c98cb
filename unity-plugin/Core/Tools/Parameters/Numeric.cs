#nullable enable
using System;
using System.Globalization;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.Parameters
{
    /// <summary>Numbers out of JSON: never rounded, never cut to fit, never out of text.</summary>
    internal static class Numeric
    {
        /// <summary>Beyond this a double no longer counts one by one.</summary>
        private const double LargestExact = 9007199254740992;

        /// <summary>An integer of the type; 3.0 is one (as JSON Schema has it), 3.5 and "3" are not.</summary>
        public static object Integer(Type type, JToken token, string name, ParameterRangeAttribute? range)
        {
            if (!Exact(token, out var value)) throw ArgumentBinder.Wrong(name, "an integer", token);
            RefuseOutside((double)value, token, name, range);
            try
            {
                return Convert.ChangeType(value, type, CultureInfo.InvariantCulture);
            }
            catch (OverflowException)
            {
                var least = type.GetField("MinValue")!.GetValue(null);
                var most = type.GetField("MaxValue")!.GetValue(null);
                throw ArgumentBinder.Wrong(name, $"an integer from {least} to {most}", token);
            }
        }

        /// <summary>A finite number of the type.</summary>
        public static object Number(Type type, JToken token, string name, ParameterRangeAttribute? range)
        {
            if (token.Type != JTokenType.Integer && token.Type != JTokenType.Float)
            {
                throw ArgumentBinder.Wrong(name, "a number", token);
            }
            var raw = ((JValue)token).Value!;
            var value = Wide(raw);
            var tooLarge = type == typeof(float) ? Math.Abs(value) > float.MaxValue : double.IsInfinity(value);
            if (double.IsNaN(value) || tooLarge) throw ArgumentBinder.Wrong(name, "a finite number", token);
            RefuseOutside(value, token, name, range);
            if (type == typeof(double)) return value;
            if (type == typeof(float)) return (float)value;
            try
            {
                return raw is double ? (decimal)value : decimal.Parse(Text(raw), CultureInfo.InvariantCulture);
            }
            catch (OverflowException)
            {
                throw ArgumentBinder.Wrong(name, "a number of at most 28 digits", token);
            }
        }

        private static bool Exact(JToken token, out decimal value)
        {
            value = 0;
            if (token.Type != JTokenType.Integer && token.Type != JTokenType.Float) return false;
            var raw = ((JValue)token).Value!;
            if (token.Type == JTokenType.Integer)
            {
                return decimal.TryParse(Text(raw), NumberStyles.Integer, CultureInfo.InvariantCulture, out value);
            }
            var number = Wide(raw);
            if (Math.Abs(number) > LargestExact || number != Math.Floor(number)) return false;
            value = (decimal)number;
            return true;
        }

        private static double Wide(object raw)
        {
            // .NET Framework answers an overflow with an exception, newer runtimes with infinity.
            try
            {
                return raw is double value ? value : double.Parse(Text(raw), CultureInfo.InvariantCulture);
            }
            catch (OverflowException)
            {
                return double.PositiveInfinity;
            }
        }

        private static string Text(object raw) => Convert.ToString(raw, CultureInfo.InvariantCulture)!;

        private static void RefuseOutside(double value, JToken token, string name, ParameterRangeAttribute? range)
        {
            if (range == null || (value >= range.Minimum && value <= range.Maximum)) return;
            var least = range.Minimum.ToString(CultureInfo.InvariantCulture);
            var most = range.Maximum.ToString(CultureInfo.InvariantCulture);
            var wanted = double.IsInfinity(range.Maximum) ? $"{least} or more"
                : double.IsInfinity(range.Minimum) ? $"{most} or less"
                : $"from {least} to {most}";
            throw ArgumentBinder.Wrong(name, wanted, token);
        }
    }
}
