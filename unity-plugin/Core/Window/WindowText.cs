#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using JobBroker.Bridge.Session;

namespace JobBroker.Bridge.Window
{
    /// <summary>The texts of the window.</summary>
    internal static class WindowText
    {
        /// <summary>What it means that the plain surface is on.</summary>
        public const string PlainSurfaceConsequence =
            "Every program and every user of this machine that reaches the port may run tools, without the token.";

        public static string Headline(BridgeStatus status)
        {
            if (!status.Running) return "Stopped";
            var driven = status.WorkerConnected ? ", driven by a job broker" : "";
            return string.Format(CultureInfo.InvariantCulture, "Listening on 127.0.0.1:{0}{1}", status.Port, driven);
        }

        /// <summary>3 s, 2 min 5 s, 1 h 12 min.</summary>
        public static string Age(long milliseconds)
        {
            var seconds = Math.Max(0, milliseconds / 1000);
            if (seconds < 60) return seconds + " s";
            if (seconds < 3600) return seconds / 60 + " min " + seconds % 60 + " s";
            return seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
        }

        public static string Time(long atMs) =>
            DateTimeOffset.FromUnixTimeMilliseconds(atMs).ToLocalTime().ToString("HH:mm:ss", CultureInfo.InvariantCulture);

        public static RunningRow? Running(RunningStatus? running, long nowMs)
        {
            if (running == null) return null;
            var text = running.Tool + ", for " + Age(nowMs - running.StartedAtMs);
            var isKnown = running.Progress.HasValue && running.Total > 0;
            if (isKnown)
            {
                text += string.Format(CultureInfo.InvariantCulture, ", {0:0.#} of {1:0.#}", running.Progress, running.Total);
            }
            if (!string.IsNullOrEmpty(running.Message)) text += ": " + running.Message;
            var fraction = isKnown ? (float?)Math.Min(1, Math.Max(0, running.Progress!.Value / running.Total!.Value)) : null;
            return new RunningRow(text, fraction);
        }

        /// <summary>Which of the typed labels is none; empty when all are. Null: nothing is typed.</summary>
        public static string LabelsNote(string? typed)
        {
            var wrong = EditorLabels.Between(typed).FirstOrDefault(label => !EditorLabels.IsLabel(label));
            return wrong == null ? "" : $"\"{OneLine.Of(wrong, 80)}\" is no label: a label has letters, digits, '.', '_', '-' "
                + "and at most one '=', and at most 64 characters. Put commas between labels.";
        }

        /// <summary>A line for each MCP client of the broker, with what it does here, and one for those that are not named.</summary>
        public static IEnumerable<string> McpClients(ClientReport report)
        {
            foreach (var client in report.Clients)
            {
                var does = new[]
                {
                    client.Runs == null ? null : "runs " + client.Runs,
                    client.Waits == 0 ? null : string.Format(CultureInfo.InvariantCulture, "waits for {0}", client.Waits),
                }.Where(one => one != null);
                var doing = string.Join(", ", does);
                yield return (client.Name + " " + client.Version).Trim() + ", over " + client.Transport
                    + (doing.Length == 0 ? "" : ": " + doing);
            }
            var others = report.Total - report.Clients.Count;
            if (others > 0) yield return string.Format(CultureInfo.InvariantCulture, "and {0} more", others);
        }
    }
}
