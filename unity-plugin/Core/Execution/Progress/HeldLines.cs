#nullable enable
using System.Collections.Generic;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Execution
{
    /// <summary>
    /// Console lines of a running call that are not sent yet: the first ones, and how many came after them. Any thread. It calls
    /// nothing while it holds its lock: a line may be written by code that holds any lock.
    /// </summary>
    internal sealed class HeldLines
    {
        /// <summary>Lines of one notification.</summary>
        public const int MostLines = 50;

        /// <summary>Characters of one line; a message may have several lines of text.</summary>
        public const int LineLength = 2000;

        private readonly object gate = new object();
        private List<ConsoleLine>? lines;
        private int more;

        public bool Any
        {
            get
            {
                lock (gate) return lines != null;
            }
        }

        /// <summary>True for the first one since the last <see cref="Take"/>.</summary>
        public bool Add(ConsoleLine line)
        {
            lock (gate)
            {
                var first = lines == null;
                lines ??= new List<ConsoleLine>();
                if (lines.Count < MostLines) lines.Add(line);
                else more++;
                return first;
            }
        }

        /// <summary>The parameters of <c>operation/log</c>; null when there is nothing to send.</summary>
        public JObject? Take(string operationId)
        {
            List<ConsoleLine> taken;
            int left;
            lock (gate)
            {
                if (lines == null) return null;
                taken = lines;
                left = more;
                lines = null;
                more = 0;
            }
            var array = new JArray();
            foreach (var line in taken)
            {
                array.Add(new JObject { ["type"] = TypeOf(line.Type), ["message"] = Beginning(line.Message) });
            }
            var json = new JObject { ["operationId"] = operationId, ["lines"] = array };
            if (left > 0) json["more"] = left;
            return json;
        }

        private static string TypeOf(ConsoleLineType type)
        {
            if (type == ConsoleLineType.Log) return "log";
            return type == ConsoleLineType.Warning ? "warning" : "error";
        }

        private static string Beginning(string message)
        {
            if (message.Length <= LineLength) return message;
            var end = char.IsHighSurrogate(message[LineLength - 2]) ? LineLength - 2 : LineLength - 1;
            return message.Substring(0, end) + "…";
        }
    }
}
