using System;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Tools.BuiltIn;
using Xunit;

namespace JobBroker.Bridge.Tests.Tools;

public class NUnitXmlTests
{
    [Fact]
    public void The_file_is_nunit_3s_result_format()
    {
        var begun = new DateTime(2026, 1, 2, 3, 4, 5, DateTimeKind.Utc);
        var document = NUnitXmlResultExporter.Document(
            "Game",
            TestPlatform.EditMode,
            new[]
            {
                Case("N.A", "One", TestVerdict.Passed, 0.25),
                Case("N.A", "Two(\"x.y(\",1.5)", TestVerdict.Failed, 0.5, "got \u0001 ]]> <b>", "at Two()"),
                Case("N.B(3.0)", "Three", TestVerdict.Skipped, 0, "not today"),
            },
            begun,
            begun.AddSeconds(2));
        Assert.Equal(
            """
            <test-run id="1" testcasecount="3" result="Failed" total="3" passed="1" failed="1" inconclusive="0" skipped="1" asserts="0" duration="0.750000" engine-version="3.0" start-time="2026-01-02 03:04:05Z" end-time="2026-01-02 03:04:07Z">
              <test-suite type="Assembly" id="2" name="Game EditMode" fullname="Game EditMode" testcasecount="3" result="Failed" total="3" passed="1" failed="1" inconclusive="0" skipped="1" asserts="0" duration="0.750000">
                <test-suite type="TestFixture" id="1000" name="A" fullname="N.A" classname="N.A" testcasecount="2" result="Failed" total="2" passed="1" failed="1" inconclusive="0" skipped="0" asserts="0" duration="0.750000">
                  <test-case id="1001" name="One" fullname="N.A.One" methodname="One" classname="N.A" result="Passed" duration="0.250000" asserts="0" />
                  <test-case id="1002" name="Two(&quot;x.y(&quot;,1.5)" fullname="N.A.Two(&quot;x.y(&quot;,1.5)" methodname="Two" classname="N.A" result="Failed" duration="0.500000" asserts="0">
                    <failure>
                      <message><![CDATA[got � ]] > <b>]]></message>
                      <stack-trace><![CDATA[at Two()]]></stack-trace>
                    </failure>
                  </test-case>
                </test-suite>
                <test-suite type="TestFixture" id="1003" name="B(3.0)" fullname="N.B(3.0)" classname="N.B(3.0)" testcasecount="1" result="Skipped" total="1" passed="0" failed="0" inconclusive="0" skipped="1" asserts="0" duration="0.000000">
                  <test-case id="1004" name="Three" fullname="N.B(3.0).Three" methodname="Three" classname="N.B(3.0)" result="Skipped" duration="0.000000" asserts="0">
                    <reason>
                      <message><![CDATA[not today]]></message>
                    </reason>
                  </test-case>
                </test-suite>
              </test-suite>
            </test-run>
            """.ReplaceLineEndings("\n"),
            document.ToString().ReplaceLineEndings("\n"));
    }

    /// <summary>Tests may be called anything: only the framework knows where the class ends.</summary>
    [Theory]
    [InlineData("Game.Parser", "Handles 3.5 percent")]
    [InlineData("Game.Parser", "Ends with a dot.")]
    [InlineData("Game.Parser", "...")]
    [InlineData("Game.Parser", "Reads (1.5")]
    [InlineData("Game.Parser", "says \"a.b")]
    [InlineData("Game.Parser(\"a.)(\",1.5)", "Reads")]
    [InlineData("Game.Map<System.Int32>", "Adds(0.5f)")]
    [InlineData("Game.Outer+Inner", "Adds")]
    [InlineData("Alone", "One")]
    public void A_test_is_in_the_class_that_the_framework_names(string className, string name)
    {
        var cases = new[] { Case(className, name, TestVerdict.Passed, 0) };
        var document = NUnitXmlResultExporter.Document("Game", TestPlatform.EditMode, cases, default, default);
        var found = Assert.Single(document.Descendants("test-case"));
        var fixture = found.Parent!;
        Assert.Equal(
            (className, className, name, $"{className}.{name}"),
            (fixture.Attribute("fullname")!.Value, found.Attribute("classname")!.Value, found.Attribute("name")!.Value, found.Attribute("fullname")!.Value));
        Assert.EndsWith(fixture.Attribute("name")!.Value, className);
        Assert.NotEqual("", fixture.Attribute("name")!.Value);
    }

    [Fact]
    public void Without_a_class_it_has_its_whole_name()
    {
        var cases = new[] { new TestCaseResult("Handles 3.5 percent.", TestVerdict.Passed, 0, "", "") };
        var document = NUnitXmlResultExporter.Document("Game", TestPlatform.EditMode, cases, default, default);
        var found = Assert.Single(document.Descendants("test-case"));
        Assert.Equal(("Handles 3.5 percent.", "Game EditMode"), (found.Attribute("name")!.Value, found.Attribute("classname")!.Value));
    }

    private static TestCaseResult Case(
        string className,
        string name,
        TestVerdict verdict,
        double seconds,
        string message = "",
        string stackTrace = "") =>
        new($"{className}.{name}", verdict, seconds, message, stackTrace, null, className);
}
