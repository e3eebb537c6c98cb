#nullable enable
using System;
using System.Collections.Generic;
using System.ComponentModel;
using System.Linq;
using System.Threading.Tasks;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    public enum LogTypeFilter
    {
        All,
        Log,
        Warning,
        Error,
    }

    public sealed class GetLogsSchema
    {
        public LogTypeFilter LogType { get; set; } = LogTypeFilter.All;

        [Description("At most this many, the newest")]
        [ParameterRange(Minimum = 1)]
        public int MaxCount { get; set; } = 100;

        [Description("Only lines with this text")]
        public string SearchText { get; set; } = "";

        [Description("SearchText is a regular expression")]
        public bool UseRegex { get; set; }

        [Description("Look in stack traces, too")]
        public bool SearchInStackTrace { get; set; }

        public bool IncludeStackTrace { get; set; }
    }

    public sealed class LogLine
    {
        public ConsoleLineType LogType { get; set; }

        public string Message { get; set; } = "";

        /// <summary>Null when it was not asked for.</summary>
        public string? StackTrace { get; set; }

        /// <summary>Milliseconds since the Unix epoch.</summary>
        public long At { get; set; }
    }

    public sealed class GetLogsResponse
    {
        /// <summary>How many lines match, shown or not.</summary>
        public int TotalCount { get; set; }

        public int DisplayedCount { get; set; }

        /// <summary>
        /// When the Editor's Console was last copied, in milliseconds since the Unix epoch; null when never. Lines written
        /// since are here as well.
        /// </summary>
        public long? AsOf { get; set; }

        public IReadOnlyList<LogLine> Logs { get; set; } = Array.Empty<LogLine>();
    }

    /// <summary>
    /// Reads the bridge's own copy of the console. Any thread: it is answered while the main thread is blocked.
    /// </summary>
    [McpTool(
        Name = "get-logs",
        Description = "Reads the newest lines of the Editor console.",
        Effect = ToolEffect.ReadOnly,
        ExecutionClass = ExecutionClass.Quick)]
    public sealed class GetLogsTool : AbstractUnityTool<GetLogsSchema, GetLogsResponse>
    {
        private readonly ConsoleBuffer logs;

        public GetLogsTool(ToolServices services)
        {
            logs = services.Logs;
        }

        protected override Task<GetLogsResponse> ExecuteAsync(GetLogsSchema parameters, ToolContext context)
        {
            var contains = TextFilter.For(nameof(parameters.SearchText), parameters.SearchText, parameters.UseRegex);
            var matching = logs.Lines(out var asOf)
                .Where(line => IsAsked(line, parameters.LogType))
                .Where(line => contains(line.Message) || (parameters.SearchInStackTrace && contains(line.StackTrace)))
                .ToList();
            var shown = matching
                .Skip(Math.Max(0, matching.Count - parameters.MaxCount))
                .Select(line => Shown(line, parameters.IncludeStackTrace))
                .ToList();
            return Task.FromResult(new GetLogsResponse
            {
                TotalCount = matching.Count,
                DisplayedCount = shown.Count,
                AsOf = asOf,
                Logs = shown,
            });
        }

        private static bool IsAsked(ConsoleLine line, LogTypeFilter filter) =>
            filter == LogTypeFilter.All || filter.ToString() == line.Type.ToString();

        private static LogLine Shown(ConsoleLine line, bool withStackTrace) => new LogLine
        {
            LogType = line.Type,
            Message = line.Message,
            StackTrace = withStackTrace ? line.StackTrace : null,
            At = line.AtMs,
        };
    }
}
