/** A large result in full, piece by piece: a program on the other side of a pipe has no context to spare. */
import type { Answer } from "../../shared/operation/answer.js";
import type { BrokerClient } from "./broker-client.js";

/** The pieces of its JSON text, in order. */
export async function* piecesOf(client: BrokerClient, id: string): AsyncGenerator<Buffer> {
  for (let offset = 0; ; ) {
    const piece = await client.piece(id, offset);
    if (piece.length === 0) return;
    yield piece;
    offset += piece.length;
  }
}

/** The same answer with the result itself in place of the summary of a large one. */
export async function withWholeResult(client: BrokerClient, answer: Answer): Promise<Answer> {
  const { cached, cache_id: id, size_kb, estimated_tokens, usage_hint, preview, ...rest } = answer;
  if (!cached || id === undefined) return answer;
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(client, id)) pieces.push(piece);
  return { ...rest, result: JSON.parse(Buffer.concat(pieces).toString("utf8")) as unknown };
}
