/**
 * Asks what an Editor answers only to a holder of its token, and only after it has proven to hold it itself
 * (docs/reference/protocol.md, "Hello and fencing"). The token never leaves this process.
 */
import type { z } from "zod";
import { isProof, newNonce, proofOf } from "../../shared/wire/editor-proof.js";
import { ChallengeAnswer } from "../../shared/wire/wire.js";
import type { Connection } from "../transport/connection.js";
import { askTyped } from "./editor-calls.js";

/** What an endpoint file says of how to prove oneself to its Editor. */
export interface EditorSecret {
  /** Empty: not known, and then nothing is proven. */
  token: string;
  /** `host:port` as the Editor knows it, where that is not where it is called: a forwarded port. */
  listensOn?: string | undefined;
}

/** What answers does not hold the token: another program has the port, or the endpoint file is another Editor's. */
export class UnprovenEditor extends Error {
  override readonly name = "UnprovenEditor";

  constructor(address: string) {
    super(
      `what listens at ${address} has not proven to be the Editor: it does not hold the token of the endpoint file`,
    );
  }
}

/** Rejects what askTyped rejects, and UnprovenEditor; then the other side has learned what `params` say, no more. */
export async function askProven<T>(
  connection: Connection,
  secret: EditorSecret,
  schema: z.ZodType<T>,
  method: string,
  params: object,
): Promise<T> {
  const workerNonce = newNonce();
  const answer = await askTyped(connection, ChallengeAnswer, method, { ...params, nonce: workerNonce });
  const address = secret.listensOn ?? connection.calledAt();
  const challenge = { workerNonce, editorNonce: answer.nonce, address };
  if (secret.token === "" || !isProof(answer.proof, "editor", secret.token, challenge))
    throw new UnprovenEditor(address);
  connection.trust();
  return askTyped(connection, schema, "bridge/prove", {
    proof: proofOf("worker", secret.token, challenge),
  });
}
