#nullable enable
using System.Security.Cryptography;
using System.Text;
using JobBroker.Bridge.Ledger;
using JobBroker.Bridge.Ports;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>
    /// Who may own this Editor: token, store and fence. The fence is on disk and the older connection closed before the
    /// hello is answered, all under the ledger's gate, so nothing below the new fence can be journalled any more (▲11).
    /// </summary>
    internal sealed class FenceGate
    {
        private readonly OperationLedger ledger;
        private readonly WorkerSeat seat;
        private readonly IClock clock;
        private readonly byte[] tokenDigest;
        private readonly int foreignSilenceMs;
        private long boundHeardAt;
        private bool handedOver;

        /// <param name="foreignSilenceMs">Silence of the bound store's worker after which another may take an idle Editor.</param>
        public FenceGate(OperationLedger ledger, WorkerSeat seat, IClock clock, string token, int foreignSilenceMs)
        {
            this.ledger = ledger;
            this.seat = seat;
            this.clock = clock;
            this.foreignSilenceMs = foreignSilenceMs;
            tokenDigest = Digest(token);
            boundHeardAt = clock.ElapsedMs;
        }

        /// <summary>The seated worker was heard: another store must wait for its silence.</summary>
        public void Heard()
        {
            lock (ledger.Gate) boundHeardAt = clock.ElapsedMs;
        }

        /// <summary>A person lets the next store take this Editor over.</summary>
        public void HandOver()
        {
            lock (ledger.Gate) handedOver = true;
        }

        /// <summary>True when the text is this Editor's token; takes the same time for every text.</summary>
        private bool IsToken(string token)
        {
            var digest = Digest(token);
            var difference = 0;
            for (var i = 0; i < digest.Length; i++) difference |= digest[i] ^ tokenDigest[i];
            return difference == 0;
        }

        /// <summary>
        /// Hands the Editor to a store for good: a person on this machine, who can read the token, asked for it. On the
        /// disk before it is answered, and the connection of the store before is closed; the fence stays as it is.
        /// </summary>
        public Answer TakeOver(RequestParams parameters)
        {
            var storeId = parameters.Text("storeId");
            if (!IsToken(parameters.Text("token"))) return Stranger();
            lock (ledger.Gate)
            {
                var bound = ledger.BoundStore;
                var isOther = bound != null && bound.StoreId != storeId;
                var open = WireJson.IdsAndStates(ledger.Open());
                if (isOther && open.Count > 0 && !parameters.Flag("force"))
                {
                    var message = $"{open.Count} operation(s) of the store that holds this Editor are open here.";
                    var data = new JObject { ["boundTo"] = bound!.StoreId, ["since"] = bound.Since, ["open"] = open };
                    return Answer.Error(ErrorCodes.ForeignBroker, message, data);
                }
                if (isOther && ledger.Fence is { } fence)
                {
                    ledger.TakeFence(fence, storeId);
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

        /// <summary>Seats the worker; null when it may own the Editor, else the refusal.</summary>
        public Answer? Enter(IPeer peer, RequestParams hello)
        {
            var storeId = hello.Text("storeId");
            var epoch = hello.Count("epoch");
            var ownerNonce = hello.Text("ownerNonce");
            if (!IsToken(hello.Text("token"))) return Stranger();
            lock (ledger.Gate)
            {
                var refused = Foreign(storeId) ?? Fenced(epoch, ownerNonce);
                if (refused != null) return refused;
                if (ledger.Fence?.Epoch != epoch || ledger.BoundStore?.StoreId != storeId)
                {
                    ledger.TakeFence(new Fence(epoch, ownerNonce), storeId);
                }
                handedOver = false;
                boundHeardAt = clock.ElapsedMs;
                seat.Take(peer);
                return null;
            }
        }

        private static Answer Stranger()
        {
            const string message = "Wrong token. Read it from the Editor's endpoint file.";
            return Answer.Error(ErrorCodes.Unauthorized, message).AndClose();
        }

        private Answer? Foreign(string storeId)
        {
            var bound = ledger.BoundStore;
            if (bound == null || bound.StoreId == storeId || handedOver) return null;
            var silent = clock.ElapsedMs - boundHeardAt >= foreignSilenceMs;
            if (silent && ledger.Open().Count == 0) return null;
            const string message = "This Editor belongs to another broker's store. Hand it over, or stop that broker.";
            var data = new JObject { ["boundTo"] = bound.StoreId, ["since"] = bound.Since };
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

        /// <summary>Digests have one length, so that a comparison's time says nothing about the token.</summary>
        private static byte[] Digest(string token)
        {
            using var sha = SHA256.Create();
            return sha.ComputeHash(Encoding.UTF8.GetBytes(token));
        }
    }
}
