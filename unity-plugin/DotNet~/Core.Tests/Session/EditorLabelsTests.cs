#nullable enable
using JobBroker.Bridge.Session;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>Which pools an Editor is in.</summary>
public sealed class EditorLabelsTests
{
    [Fact]
    public void The_environment_the_command_line_and_what_it_is_each_once_and_in_lower_case() =>
        Assert.Equal(
            ["android", "gpu", "mac", "licence=pro", "batch", "platform=standalonelinux64"],
            EditorLabels.Of(
                " Android, gpu,, ",
                ["Unity", "-brokerLabels", "mac,GPU", "-batchmode", "-BROKERLABELS", "android"],
                ["Gpu", "licence=Pro"],
                true,
                "StandaloneLinux64"));

    [Fact]
    public void None_where_nothing_is_given() =>
        Assert.Empty(EditorLabels.Of(null, ["Unity", "-brokerLabels"], [], false, null));

    [Fact]
    public void What_is_no_label_is_passed_over_as_the_broker_does() =>
        Assert.Equal(
            ["gpu"],
            EditorLabels.Of("a b,gpu,=x,a=b=c,-x", [], [new string('x', 65), "gpu\n"], false, null));
}
