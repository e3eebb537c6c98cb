using JobBroker.EditorHost.Native;

namespace JobBroker.EditorHost.Domain;

/// <summary>Continues awaits on the main thread, as Unity's own context does, and forgets them when the domain ends.</summary>
internal sealed class DomainContext(NativeEditor native) : SynchronizationContext
{
    private volatile bool ended;

    public void End() => ended = true;

    public override void Post(SendOrPostCallback callback, object? state) => native.Loop.Post(() =>
    {
        if (!ended) callback(state);
    });

    public override SynchronizationContext CreateCopy() => this;
}
