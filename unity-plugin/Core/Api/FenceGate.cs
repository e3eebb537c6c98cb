#nullable enable
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>
    /// Decides by store and fence whether a worker that has passed the <see cref="Door"/> may own this Editor. The
    /// fence is on disk and the older connection closed before the hello is answered, all under the ledger's gate, so
    /// nothing below the new fence can be journalled any more (▲11).
    /// </summary>
    internal sealed class FenceGate
    {
        private readonly OperationLedger ledger;
        private readonly WorkerSeat seat;
        private readonly int foreignSilenceMs;
        private bool handedOver;

        /// <summary>The broker that said hello last, for people.</summary>
        private HelloParams? owner;

        /// <param name="foreignSilenceMs">
        /// How long after the end of the bound store's connection another store may take over an idle Editor.
        /// </param>
        public FenceGate(OperationLedger ledger, WorkerSeat seat, int foreignSilenceMs)
        {
            this.ledger = ledger;
            this.seat = seat;
            this.foreignSilenceMs = foreignSilenceMs;
        }

        /// <summary>Lets the next store take over this Editor, on a person's request.</summary>
        public void HandOver()
        {
            lock (ledger.Gate) handedOver = true;
        }

        /// <summary>
        /// Binds the Editor to a store permanently, on the request of a person on this machine who can read the token.
        /// It is on the disk before the answer, and the previous store's connection is closed; the fence stays.
        /// </summary>
        public Answer TakeOver(HandOverParams parameters)
        {
            var storeId = parameters.StoreId;
            lock (ledger.Gate)
            {
                var bound = ledger.BoundStore;
                var isOther = bound != null && bound.StoreId != storeId;
                var open = WireJson.IdsAndStates(ledger.Open());
                if (isOther && open.Count > 0 && !parameters.Force)
                {
                    var message = $"{open.Count} operation(s) of the store that holds this Editor are open here.";
                    var data = new JObject { ["boundTo"] = bound!.StoreId, ["since"] = bound.Since, ["open"] = open };
                    return Answer.Error(ErrorCodes.ForeignBroker, message, data);
                }
                if (isOther && ledger.Fence is { } fence)
                {
                    ledger.TakeFence(fence, storeId);
                    owner = null;
                    seat.Vacate();
                }
                return Answer.Result(new JObject
                {
                    ["boundTo"] = storeId,
                    ["before"] = bound?.StoreId,
                    ["open"] = isOther ? open : new JArray(),
                });
            }
        }

        /// <summary>Seats the worker and returns null, or returns the refusal.</summary>
        public Answer? Enter(IPeer peer, HelloParams hello)
        {
            var storeId = hello.StoreId;
            var epoch = hello.Epoch;
            var ownerNonce = hello.OwnerNonce;
            lock (ledger.Gate)
            {
                var refused = Foreign(storeId) ?? Fenced(epoch, ownerNonce);
                if (refused != null) return refused;
                if (ledger.Fence?.Epoch != epoch || ledger.BoundStore?.StoreId != storeId)
                {
                    ledger.TakeFence(new Fence(epoch, ownerNonce), storeId);
                }
                handedOver = false;
                owner = hello;
                seat.Take(peer, hello.Log);
                return null;
            }
        }

        private Answer? Foreign(string storeId)
        {
            var bound = ledger.BoundStore;
            if (bound == null || bound.StoreId == storeId || handedOver) return null;
            if (seat.IsEmptyFor(foreignSilenceMs) && ledger.Open().Count == 0) return null;
            const string message = "This Editor belongs to another broker's store. Hand it over, or stop that broker.";
            var data = new JObject
            {
                ["boundTo"] = bound.StoreId,
                ["since"] = bound.Since,
                ["connected"] = seat.IsHeld,
            };
            if (owner?.BrokerId != null) data["brokerId"] = owner.BrokerId;
            if (owner?.Version != null) data["version"] = owner.Version;
            return Answer.Error(ErrorCodes.ForeignBroker, message, data);
        }

        private Answer? Fenced(long epoch, string ownerNonce)
        {
            var highest = ledger.Fence;
            if (highest == null || epoch > highest.Epoch) return null;
            if (epoch == highest.Epoch && ownerNonce == highest.OwnerNonce) return null;
            var message = $"Epoch {epoch} is not above {highest.Epoch}. Take a higher one and say hello again.";
            return Answer.Error(ErrorCodes.Fenced, message, new JObject { ["highestEpoch"] = highest.Epoch });
        }
    }
}
