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
            ["android", "gpu", "mac", "batch", "platform=standalonelinux64"],
            EditorLabels.Of(
                " Android, gpu,, ",
                ["Unity", "-brokerLabels", "mac,GPU", "-batchmode", "-BROKERLABELS", "android"],
                true,
                "StandaloneLinux64"));

    [Fact]
    public void None_where_nothing_is_given() =>
        Assert.Empty(EditorLabels.Of(null, ["Unity", "-brokerLabels"], false, null));
}
