#nullable enable
using System;
using System.Collections.Generic;
using JobBroker.Bridge.Security;
using JobBroker.Bridge.Wire;
using Newtonsoft.Json.Linq;

namespace JobBroker.Bridge.Api
{
    /// <summary>
    /// Admits the callers that prove to hold this Editor's token, after the Editor's own proof
    /// (docs/reference/protocol.md, "Hello and fencing"). Each proof admits one request. Any thread.
    /// </summary>
    internal sealed class Door
    {
        private readonly Dictionary<IPeer, Pending> pending = new Dictionary<IPeer, Pending>();
        private readonly string token;

        public Door(string token)
        {
            this.token = token;
        }

        /// <summary>
        /// The Editor's own proof; <paramref name="enter"/> runs when the worker has given its own. A second challenge
        /// on a
        /// connection replaces the first.
        /// </summary>
        /// <param name="workerNonce">Checked: <see cref="RequestParams.Nonce"/>.</param>
        public Answer Challenge(IPeer peer, string workerNonce, Func<Answer> enter)
        {
            if (token.Length == 0) return NotProven();
            var challenge = new Challenge(workerNonce, EditorProof.NewNonce(), peer.LocalAddress);
            lock (pending) pending[peer] = new Pending(challenge, enter);
            return Answer.Result(new JObject
            {
                ["nonce"] = challenge.EditorNonce,
                ["proof"] = EditorProof.Of(EditorProof.Editor, token, challenge),
            });
        }

        /// <summary>
        /// <c>bridge/prove</c>. Each challenge allows one attempt: a wrong proof closes the connection. Throws what the
        /// admitted request throws.
        /// </summary>
        public Answer Prove(IPeer peer, JToken? parameters)
        {
            Pending? asked;
            lock (pending)
            {
                if (pending.TryGetValue(peer, out asked)) pending.Remove(peer);
            }
            var given = (parameters as JObject)?["proof"];
            if (asked == null || !(given is JValue { Value: string proof })) return NotProven();
            if (!EditorProof.IsProof(proof, EditorProof.Worker, token, asked.Challenge)) return NotProven();
            peer.Admit();
            return asked.Enter();
        }

        public void Left(IPeer peer)
        {
            lock (pending) pending.Remove(peer);
        }

        private static Answer NotProven()
        {
            const string message = "Not proven. Use the token and the address of the Editor's endpoint file, with a "
                + "broker that speaks this protocol.";
            return Answer.Error(ErrorCodes.Unauthorized, message).AndClose();
        }

        private sealed class Pending
        {
            public Pending(Challenge challenge, Func<Answer> enter)
            {
                Challenge = challenge;
                Enter = enter;
            }

            public Challenge Challenge { get; }

            public Func<Answer> Enter { get; }
        }
    }
}
