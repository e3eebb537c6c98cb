#nullable enable
using System;
using System.Collections.Generic;
using System.Globalization;
using System.Linq;
using System.Text.RegularExpressions;
using System.Xml;
using System.Xml.Linq;
using JobBroker.Bridge.Ports;

namespace JobBroker.Bridge.Tools.BuiltIn
{
    /// <summary>
    /// Test results in NUnit 3's result format, as build servers read it: a fixture for each class of tests.
    /// </summary>
    public static class NUnitXmlResultExporter
    {
        /// <summary>Before the name of a class, which may end with arguments.</summary>
        private static readonly Regex Namespace = new Regex(@"^(\w+\.)+(?=.)", RegexOptions.CultureInvariant);

        public static XDocument Document(
            string projectName,
            TestPlatform platform,
            IReadOnlyList<TestCaseResult> cases,
            DateTime begun,
            DateTime ended)
        {
            var whole = $"{projectName} {platform}";
            var number = 1000;
            var fixtures = cases
                .GroupBy(one => one.ClassName.Length == 0 ? whole : one.ClassName)
                .Select(group => Fixture(group.Key, group.ToList(), ref number));
            var assembly = new XElement(
                "test-suite",
                new XAttribute("type", "Assembly"),
                new XAttribute("id", "2"),
                new XAttribute("name", Clean(whole)),
                new XAttribute("fullname", Clean(whole)));
            Count(assembly, cases);
            foreach (var fixture in fixtures) assembly.Add(fixture);
            var run = new XElement("test-run", new XAttribute("id", "1"));
            Count(run, cases);
            run.Add(
                new XAttribute("engine-version", "3.0"),
                new XAttribute("start-time", Time(begun)),
                new XAttribute("end-time", Time(ended)),
                assembly);
            return new XDocument(new XDeclaration("1.0", "utf-8", null), run);
        }

        private static XElement Fixture(string name, IReadOnlyList<TestCaseResult> cases, ref int number)
        {
            var fixture = new XElement(
                "test-suite",
                new XAttribute("type", "TestFixture"),
                new XAttribute("id", (number++).ToString(CultureInfo.InvariantCulture)),
                new XAttribute("name", Clean(Namespace.Replace(name, ""))),
                new XAttribute("fullname", Clean(name)),
                new XAttribute("classname", Clean(name)));
            Count(fixture, cases);
            foreach (var one in cases) fixture.Add(Case(name, one, number++));
            return fixture;
        }

        private static XElement Case(string className, TestCaseResult one, int number)
        {
            var isWithin = one.FullName.StartsWith(className + ".", StringComparison.Ordinal);
            var name = isWithin ? one.FullName.Substring(className.Length + 1) : one.FullName;
            var element = new XElement(
                "test-case",
                new XAttribute("id", number.ToString(CultureInfo.InvariantCulture)),
                new XAttribute("name", Clean(name)),
                new XAttribute("fullname", Clean(one.FullName)),
                new XAttribute("methodname", Clean(name.Split('(')[0])),
                new XAttribute("classname", Clean(className)),
                new XAttribute("result", one.Verdict.ToString()),
                new XAttribute("duration", Seconds(one.Seconds)),
                new XAttribute("asserts", "0"));
            if (one.Verdict == TestVerdict.Failed)
            {
                element.Add(new XElement("failure", Text("message", one.Message), Text("stack-trace", one.StackTrace)));
            }
            else if (one.Message.Length > 0)
            {
                element.Add(new XElement("reason", Text("message", one.Message)));
            }
            return element;
        }

        private static void Count(XElement element, IReadOnlyList<TestCaseResult> cases)
        {
            int Of(TestVerdict verdict) => cases.Count(one => one.Verdict == verdict);
            var result = Of(TestVerdict.Failed) > 0 ? "Failed"
                : Of(TestVerdict.Passed) > 0 ? "Passed"
                : Of(TestVerdict.Skipped) > 0 ? "Skipped"
                : "Inconclusive";
            element.Add(
                new XAttribute("testcasecount", cases.Count),
                new XAttribute("result", result),
                new XAttribute("total", cases.Count),
                new XAttribute("passed", Of(TestVerdict.Passed)),
                new XAttribute("failed", Of(TestVerdict.Failed)),
                new XAttribute("inconclusive", Of(TestVerdict.Inconclusive)),
                new XAttribute("skipped", Of(TestVerdict.Skipped)),
                new XAttribute("asserts", 0),
                new XAttribute("duration", Seconds(cases.Sum(one => one.Seconds))));
        }

        private static XElement Text(string name, string text) =>
            new XElement(name, new XCData(Clean(text).Replace("]]>", "]] >")));

        private static string Seconds(double seconds) => seconds.ToString("0.000000", CultureInfo.InvariantCulture);

        private static string Time(DateTime time) =>
            time.ToString("yyyy-MM-dd HH:mm:ss'Z'", CultureInfo.InvariantCulture);

        /// <summary>
        /// XML has no way to write control characters and halves of surrogate pairs; tests print them all the same.
        /// </summary>
        private static string Clean(string text)
        {
            var clean = text.ToCharArray();
            for (var index = 0; index < clean.Length; index++)
            {
                var isPair = index + 1 < clean.Length && XmlConvert.IsXmlSurrogatePair(clean[index + 1], clean[index]);
                if (isPair) index++;
                else if (!XmlConvert.IsXmlChar(clean[index])) clean[index] = '\uFFFD';
            }
            return new string(clean);
        }
    }
}
