#nullable enable
using System;
using System.Globalization;
using System.IO;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>One run of tests from its begin to its end, domain reloads included. Main thread only.</summary>
    internal sealed class TestRun : ITestRunListener
    {
        /// <summary>
        /// A partial result is reported after every test: it shows so many failures, the result shows all.
        /// </summary>
        private const int FailuresInPartialResult = 100;

        /// <summary>
        /// … and so many of the listed tests that ended last. All of them after every test would be a quadratic amount of work on
        /// the main thread.
        /// </summary>
        private const int CasesInPartialResult = 200;

        private const string TotalKey = "total";
        private const string StartedAtKey = "startedAt";
        private const string FileKey = "file";

        private readonly ToolServices services;
        private readonly ToolContext context;
        private readonly string file;
        private readonly FinishedTests finished;
        private readonly long startedAt;

        private TestRun(
            ToolServices services,
            ToolContext context,
            string file,
            long startedAt,
            int total,
            ReportFilter filter)
        {
            this.services = services;
            this.context = context;
            this.file = file;
            this.startedAt = startedAt;
            finished = new FinishedTests(file);
            Counts = new TestCounts(services.Editor.ProjectPath, filter);
            Total = total;
        }

        public TestCounts Counts { get; }

        /// <summary>How many tests there are to run; -1 until the framework has reported it.</summary>
        public int Total { get; private set; }

        /// <summary>True when every test has reported its result.</summary>
        public bool IsComplete => Total >= 0 && Counts.Completed >= Total;

        /// <param name="total">-1 where only the framework knows it.</param>
        public static TestRun Begin(ToolServices services, ToolContext context, ReportFilter filter, int total)
        {
            var file = FinishedTests.PathFor(services.Editor.ProjectPath, context.OperationId);
            var run = new TestRun(services, context, file, services.Clock.NowMs, total, filter);
            run.finished.Delete();
            run.Remember();
            return run;
        }

        /// <summary>The run as it was before the domain reload, with the tests that had ended.</summary>
        public static TestRun Resumed(
            ToolServices services,
            ToolContext context,
            JToken? resumeRecord,
            ReportFilter filter)
        {
            var record = resumeRecord as JObject ?? new JObject();
            var run = new TestRun(
                services,
                context,
                (string?)record[FileKey] ?? FinishedTests.PathFor(services.Editor.ProjectPath, context.OperationId),
                (long?)record[StartedAtKey] ?? services.Clock.NowMs,
                (int?)record[TotalKey] ?? -1,
                filter);
            foreach (var testCase in run.finished.Read()) run.Counts.Add(testCase);
            if (run.Counts.Completed > 0) run.Report("The run goes on after a domain reload");
            return run;
        }

        public void Started(int totalCases)
        {
            Total = Math.Max(Total, totalCases);
            Remember();
            Report("The run begins");
        }

        public void Finished(TestCaseResult testCase)
        {
            Counts.Add(testCase);
            finished.Append(testCase);
            Report(testCase.FullName);
        }

        /// <summary>Writes the NUnit file and answers its path. Throws what the file system throws.</summary>
        public string SaveXml(TestPlatform platform)
        {
            var begun = DateTimeOffset.FromUnixTimeMilliseconds(startedAt).UtcDateTime;
            var ended = DateTimeOffset.FromUnixTimeMilliseconds(services.Clock.NowMs).UtcDateTime;
            var stamp = begun.ToString("yyyyMMdd-HHmmss", CultureInfo.InvariantCulture);
            var run = Path.GetFileNameWithoutExtension(file).Replace("tests-", "");
            var path = Path.Combine(services.Editor.ProjectPath, "TestResults", $"{platform}-{stamp}-{run}.xml");
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            var project = services.Editor.ProjectName;
            NUnitXmlResultExporter.Document(project, platform, Counts.Cases, begun, ended).Save(path);
            return path;
        }

        /// <summary>Removes what only a reload would have needed.</summary>
        public void Forget() => finished.Delete();

        private void Remember() => context.SaveResumeRecord(new JObject
        {
            [TotalKey] = Total,
            [StartedAtKey] = startedAt,
            [FileKey] = file,
        });

        private void Report(string message) => context.Progress.Report(
            Counts.Completed,
            Total < 0 ? (double?)null : Total,
            message,
            new
            {
                completed = Counts.Completed,
                total = Math.Max(Total, Counts.Completed),
                passed = Counts.Passed,
                failed = Counts.Failed,
                skipped = Counts.Skipped,
                failures = Counts.FirstFailures(FailuresInPartialResult),
                cases = Counts.LastReported(CasesInPartialResult),
            });
    }
}
