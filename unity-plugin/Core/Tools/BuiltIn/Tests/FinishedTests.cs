#nullable enable
using System;
using System.Collections.Generic;
using System.IO;
using System.Text;
using JobBroker.Bridge.Ports;
using Newtonsoft.Json;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// The finished tests of one run, one line each, in a file that the resume record names: the record itself would be
    /// written whole with every test. It lies in the project's Temp folder, which lives as long as the Editor process,
    /// and so as long as the run can go on. Opened for each line: a domain reload leaves no handle behind.
    /// </summary>
    internal sealed class FinishedTests
    {
        private static readonly Encoding Utf8 = new UTF8Encoding(false);

        private readonly string path;

        public FinishedTests(string path)
        {
            this.path = path;
        }

        /// <param name="runId">An operation's id; whatever could leave the folder is replaced.</param>
        public static string PathFor(string projectPath, string runId)
        {
            var name = new StringBuilder();
            foreach (var letter in runId) name.Append(char.IsLetterOrDigit(letter) || letter == '-' ? letter : '_');
            return Path.Combine(projectPath, "Temp", "JobBroker", $"tests-{name}.jsonl");
        }

        /// <summary>Adds a test; false when the disk refuses, which costs nothing unless a reload follows.</summary>
        public bool Append(TestCaseResult testCase)
        {
            try
            {
                Directory.CreateDirectory(Path.GetDirectoryName(path)!);
                File.AppendAllText(path, ToolJson.From(testCase).ToString(Formatting.None) + "\n", Utf8);
                return true;
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                return false;
            }
        }

        /// <summary>What was added, in order; a line that was cut in the middle is left out.</summary>
        public IReadOnlyList<TestCaseResult> Read()
        {
            var cases = new List<TestCaseResult>();
            try
            {
                foreach (var line in File.ReadLines(path, Utf8))
                {
                    var testCase = Parse(line);
                    if (testCase != null) cases.Add(testCase);
                }
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                // Nothing was finished, or what was is lost: the result then says how many are missing.
            }
            return cases;
        }

        public void Delete()
        {
            try
            {
                File.Delete(path);
            }
            catch (Exception error) when (error is IOException || error is UnauthorizedAccessException)
            {
                // Unity empties the folder at its next start.
            }
        }

        private static TestCaseResult? Parse(string line)
        {
            try
            {
                using var reader = new JsonTextReader(new StringReader(line));
                reader.DateParseHandling = DateParseHandling.None;
                var testCase = ToolJson.Read<TestCaseResult>(JToken.ReadFrom(reader));
                return testCase?.FullName == null ? null : testCase;
            }
            catch (JsonException)
            {
                return null;
            }
        }
    }
}
