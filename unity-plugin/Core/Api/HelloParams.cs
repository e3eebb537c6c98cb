#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>The parameters of <c>bridge/hello</c>; checked before the challenge.</summary>
    internal sealed class HelloParams
    {
        /// <summary>Throws <see cref="InvalidParamsException"/>.</summary>
        public HelloParams(JToken? parameters)
        {
            var request = new RequestParams(parameters);
            Nonce = request.Nonce("nonce");
            StoreId = request.Text("storeId");
            Epoch = request.Count("epoch");
            OwnerNonce = request.Text("ownerNonce");
            BrokerId = request.OptionalText("brokerId");
            Version = request.OptionalText("version");
            Log = request.Flag("log");
        }

        public string Nonce { get; }

        public string StoreId { get; }

        public long Epoch { get; }

        public string OwnerNonce { get; }

        public string? BrokerId { get; }

        public string? Version { get; }

        /// <summary>The worker takes <c>operation/log</c>.</summary>
        public bool Log { get; }
    }

    /// <summary>The parameters of <c>bridge/hand_over</c>; checked before the challenge.</summary>
    internal sealed class HandOverParams
    {
        /// <summary>Throws <see cref="InvalidParamsException"/>.</summary>
        public HandOverParams(JToken? parameters)
        {
            var request = new RequestParams(parameters);
            Nonce = request.Nonce("nonce");
            StoreId = request.Text("storeId");
            if (StoreId.Length == 0) throw new InvalidParamsException("storeId is empty.");
            Force = request.Flag("force");
        }

        public string Nonce { get; }

        public string StoreId { get; }

        public bool Force { get; }
    }
}
