using System;
using System.Linq;
using JobBroker.Bridge.Ledger;
using Xunit;

namespace JobBroker.Bridge.Tests.Ledger.Model;

/// <content>Who may own the Editor.</content>
internal sealed partial class ModelWorld
{
    private void SayHello()
    {
        var highest = ledger.Fence?.Epoch ?? 0;
        var epoch = highest + random.Next(-1, 3);
        var nonce = random.Next(2) == 0 ? seated.Nonce : "nonce-" + ++names;
        HelloFrom(seated, epoch, nonce);
    }

    private void ForeignHello()
    {
        var epoch = (ledger.Fence?.Epoch ?? 0) + random.Next(2);
        HelloFrom(stores.Single(store => store != seated), epoch, "nonce-" + ++names);
    }

    /// <summary>What the bridge does at bridge/hello, the token apart.</summary>
    private void HelloFrom(ModelStore store, long epoch, string nonce)
    {
        lock (ledger.Gate)
        {
            var highest = ledger.Fence;
            var lower = highest != null
                && (epoch < highest.Epoch || (epoch == highest.Epoch && nonce != highest.OwnerNonce));
            var foreign = ledger.BoundStore != null && ledger.BoundStore.StoreId != store.Id
                && (ledger.Open().Count > 0 || random.Next(2) == 0);
            Note($"hello {store.Id} {epoch} {nonce}{(lower ? ": FENCED" : foreign ? ": FOREIGN_BROKER" : "")}");
            if (lower)
            {
                Assert.Throws<InvalidOperationException>(() => ledger.TakeFence(new Fence(epoch, nonce), store.Id));
            }

            if (lower || foreign || !Writes(() => ledger.TakeFence(new Fence(epoch, nonce), store.Id)))
            {
                // After a roll-back the folder may be bound to the other store: then that one says hello.
                if (foreign && store == seated)
                {
                    seated = stores.Single(other => other != store);
                    HelloFrom(seated, highest!.Epoch + 1, nonce);
                }

                return;
            }

            Flushed();
            seated = store;
            store.Epoch = epoch;
            store.Nonce = nonce;
            store.SaidHello(ledger);
        }
    }
}
