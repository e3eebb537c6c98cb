/** The proof of the token (docs/reference/protocol.md, "Hello and fencing"), spoken by a test in place of a worker or an Editor. */
import { addressOf, isProof, newNonce, proofOf } from "../../../src/shared/wire/editor-proof.js";
import type { RpcId } from "../../../src/shared/wire/rpc.js";
import type { PeerConnection } from "./tcp-peer.js";

type Params = Record<string, unknown>;

interface Asker {
  request(method: string, params?: unknown): Promise<unknown>;
}

/** As a worker: what the Editor answers behind the proof. Rejects with what either step is refused with. */
export async function askProven(
  line: Asker,
  editor: { port: number; token: string },
  method: string,
  params: object,
): Promise<Params> {
  const workerNonce = newNonce();
  const asked = await line.request(method, { ...params, nonce: workerNonce });
  const { nonce, proof } = asked as { nonce: string; proof: string };
  const challenge = { workerNonce, editorNonce: nonce, address: addressOf("127.0.0.1", editor.port) };
  // With a token of its own making a test goes on, to see what the Editor says to it.
  if (proof.length !== proofOf("editor", editor.token, challenge).length) throw new Error("no proof");
  const proven = { proof: proofOf("worker", editor.token, challenge) };
  return (await line.request("bridge/prove", proven)) as Params;
}

/** As an Editor: the next hello (or another question) of a worker that has proven itself; `id` is its proof's. */
export async function nextProven(
  there: PeerConnection,
  token: string,
  method = "bridge/hello",
): Promise<{ id: RpcId; params: Params }> {
  const { id, params } = await there.nextRequest(method);
  const editorNonce = newNonce();
  const address = addressOf(there.socket.localAddress ?? "", there.socket.localPort ?? 0);
  const challenge = { workerNonce: String(params.nonce), editorNonce, address };
  there.reply(id, { nonce: editorNonce, proof: proofOf("editor", token, challenge) });
  const proven = await there.nextRequest("bridge/prove");
  if (!isProof(String(proven.params.proof), "worker", token, challenge)) throw new Error("a wrong proof");
  return { id: proven.id, params };
}
