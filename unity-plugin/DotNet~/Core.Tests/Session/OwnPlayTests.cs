#nullable enable
using JobBroker.Bridge.Session;
using JobBroker.Bridge.Tests.Tools.InMemory;
using Xunit;

namespace JobBroker.Bridge.Tests.Session;

/// <summary>Which play mode is the bridge's to keep ticking.</summary>
public sealed class OwnPlayTests
{
    private readonly InMemoryEditor editor = new();
    private readonly InMemorySession store = new();

    [Fact]
    public void Play_mode_that_an_operation_enters_is_ours_until_it_is_left_also_behind_a_reload()
    {
        var first = new OwnPlay(editor.PlayMode, store);
        Assert.False(first.Lasts(true));
        editor.PlayMode.Enter();
        Assert.True(first.Lasts(true));
        var next = new OwnPlay(editor.PlayMode, store);
        editor.PlayMode.Arrive();
        Assert.True(next.Lasts(false));
        editor.PlayMode.Exit();
        Assert.True(next.Lasts(false));
        editor.PlayMode.Arrive();
        Assert.False(next.Lasts(false));
        Assert.False(new OwnPlay(editor.PlayMode, store).Lasts(false));
    }

    [Fact]
    public void A_persons_own_play_mode_is_not_also_while_operations_run_in_it()
    {
        var play = new OwnPlay(editor.PlayMode, store);
        editor.PlayMode.Enter();
        Assert.False(play.Lasts(false));
        editor.PlayMode.Arrive();
        Assert.False(play.Lasts(true));
    }
}
