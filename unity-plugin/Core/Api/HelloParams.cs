#nullable enable
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>What a worker says with <c>bridge/hello</c>; checked before it is challenged.</summary>
    internal sealed class HelloParams
    {
        /// <summary>Throws <see cref="InvalidParamsException"/>.</summary>
        public HelloParams(JToken? parameters)
        {
            var said = new RequestParams(parameters);
            Nonce = said.Nonce("nonce");
            StoreId = said.Text("storeId");
            Epoch = said.Count("epoch");
            OwnerNonce = said.Text("ownerNonce");
            BrokerId = said.OptionalText("brokerId");
            Version = said.OptionalText("version");
        }

        public string Nonce { get; }

        public string StoreId { get; }

        public long Epoch { get; }

        public string OwnerNonce { get; }

        public string? BrokerId { get; }

        public string? Version { get; }
    }

    /// <summary>What <c>bridge/hand_over</c> asks for; checked before it is challenged.</summary>
    internal sealed class HandOverParams
    {
        /// <summary>Throws <see cref="InvalidParamsException"/>.</summary>
        public HandOverParams(JToken? parameters)
        {
            var said = new RequestParams(parameters);
            Nonce = said.Nonce("nonce");
            StoreId = said.Text("storeId");
            if (StoreId.Length == 0) throw new InvalidParamsException("storeId is empty.");
            Force = said.Flag("force");
        }

        public string Nonce { get; }

        public string StoreId { get; }

        public bool Force { get; }
    }
}
