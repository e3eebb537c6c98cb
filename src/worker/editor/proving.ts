/**
 * Sends a request that an Editor answers only to a holder of its token, after the Editor has proven to hold it too
 * (docs/reference/protocol.md, "Hello and fencing"). The token never leaves this process.
 */
import type { z } from "zod";
import { isProof, newNonce, proofOf } from "../../shared/wire/editor-proof.js";
import { ChallengeAnswer } from "../../shared/wire/wire.js";
import type { Connection } from "../transport/connection.js";
import { askTyped } from "./editor-calls.js";

/** The part of an endpoint file that a proof needs. */
export interface EditorSecret {
  /** Empty: unknown, so nothing can be proven. */
  token: string;
  /** `host:port` as the Editor knows it, if it differs from the address called: a forwarded port. */
  listensOn?: string | undefined;
}

/** The peer does not hold the token: another program has the port, or the endpoint file is another Editor's. */
export class UnprovenEditor extends Error {
  override readonly name = "UnprovenEditor";

  constructor(address: string) {
    super(
      `the program at ${address} has not proven to be the Editor: it does not hold the token of the endpoint file`,
    );
  }
}

/** Rejects as askTyped does, and with UnprovenEditor; then the peer has learned `params` and nothing else. */
export async function askProven<T>(
  connection: Connection,
  secret: EditorSecret,
  schema: z.ZodType<T>,
  method: string,
  params: object,
): Promise<T> {
  const workerNonce = newNonce();
  const answer = await askTyped(connection, ChallengeAnswer, method, { ...params, nonce: workerNonce });
  const address = secret.listensOn ?? connection.remoteAddress();
  const challenge = { workerNonce, editorNonce: answer.nonce, address };
  if (secret.token === "" || !isProof(answer.proof, "editor", secret.token, challenge))
    throw new UnprovenEditor(address);
  connection.trust();
  return askTyped(connection, schema, "bridge/prove", {
    proof: proofOf("worker", secret.token, challenge),
  });
}
