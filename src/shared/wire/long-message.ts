/** A client's message over standard input that is too long to be read: its request is answered nevertheless. */
import { type LongLine, RPC_INVALID_REQUEST } from "./rpc.js";

/** Longer messages of a client are not read, UTF-16 units; that is where MCP's own servers give up. */
export const LONGEST_MESSAGE = 10 * 1024 * 1024;

const ID = String.raw`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)`;
/** Where clients write it: among the first members, or as the last one. */
const FIRST = new RegExp(String.raw`^\uFEFF?\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?${ID}`);
const LAST = new RegExp(String.raw`,\s*${ID}\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`);

/** The refusal, as JSON; its id is null where the request's is at neither end. */
export function refusalOfLong({ head, tail }: LongLine): string {
  const id = FIRST.exec(head)?.[1] ?? LAST.exec(tail)?.[1] ?? "null";
  const message = `The message is longer than ${LONGEST_MESSAGE} characters, and was not read. Send a shorter one.`;
  return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: RPC_INVALID_REQUEST, message })}}`;
}
