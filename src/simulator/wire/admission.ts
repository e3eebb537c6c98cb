/**
 * Admits only callers that prove to hold this Editor's token, after this Editor has proven it first
 * (docs/reference/protocol.md, "Hello and fencing"). The request is answered after the proof, once for each proof.
 */
import { addressOf, type Challenge, isProof, newNonce, proofOf } from "../../shared/wire/editor-proof.js";
import { EDITOR_CODES, ProveParams } from "../../shared/wire/wire.js";
import type { Answer, Peer } from "./tcp-server.js";

export interface Admission {
  /** The Editor's own proof; `enter` runs after the worker's proof. A second challenge replaces the first. */
  challenge(peer: Peer, workerNonce: string, enter: () => Answer): Answer;
  /** `bridge/prove`. */
  prove(peer: Peer, params: unknown): Answer;
  left(peer: Peer): void;
}

interface Pending {
  challenge: Challenge;
  enter(): Answer;
}

export function createAdmission(token: string): Admission {
  const pending = new Map<Peer, Pending>();
  return {
    challenge(peer, workerNonce, enter) {
      const challenge = {
        workerNonce,
        editorNonce: newNonce(),
        address: addressOf(peer.local.host, peer.local.port),
      };
      pending.set(peer, { challenge, enter });
      return {
        result: { nonce: challenge.editorNonce, proof: proofOf("editor", token, challenge) },
      };
    },
    prove(peer, params) {
      const asked = pending.get(peer);
      pending.delete(peer);
      const proof = ProveParams.safeParse(params).data?.proof;
      if (!asked || proof === undefined || !isProof(proof, "worker", token, asked.challenge)) {
        const message =
          "Not proven. Use the token and the address of the Editor's endpoint file, with a broker that speaks this protocol.";
        return { error: { code: EDITOR_CODES.UNAUTHORIZED, message }, close: true };
      }
      peer.admit();
      return asked.enter();
    },
    left: (peer) => void pending.delete(peer),
  };
}
