#nullable enable
using System;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>A finished test, as a result and its partial results have it.</summary>
    public sealed class ReportedTest
    {
        [JsonProperty("name")]
        public string Name { get; set; } = "";

        /// <summary>Null where the framework does not tell it.</summary>
        [JsonProperty("className")]
        public string? ClassName { get; set; }

        /// <summary>passed, failed, skipped or inconclusive.</summary>
        [JsonProperty("result")]
        public string Result { get; set; } = "";

        [JsonProperty("ms")]
        public double Ms { get; set; }

        /// <summary>Null where there is nothing to say.</summary>
        [JsonProperty("message")]
        public string? Message { get; set; }

        /// <summary>Relative to the project; null unless a failure's stack trace names one.</summary>
        [JsonProperty("file")]
        public string? File { get; set; }

        [JsonProperty("line")]
        public int? Line { get; set; }

        internal static ReportedTest Of(TestCaseResult testCase, string projectPath)
        {
            var line = 0;
            var file = testCase.Verdict == TestVerdict.Failed
                ? TestLocation.FileIn(testCase.StackTrace, projectPath, out line)
                : null;
            return new ReportedTest
            {
                Name = testCase.FullName,
                ClassName = testCase.ClassName.Length == 0 ? null : testCase.ClassName,
                Result = testCase.Verdict.ToString().ToLowerInvariant(),
                Ms = Math.Round(testCase.Seconds * 1000, 3),
                Message = testCase.Message.Length == 0 ? null : testCase.Message,
                File = file,
                Line = file == null ? (int?)null : line,
            };
        }
    }
}
