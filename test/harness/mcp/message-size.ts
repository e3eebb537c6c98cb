/** What no MCP message may exceed, wherever a test's client reads one: the common client gives up above 10 MiB. */

const LIMIT = 8 * 1024 * 1024;

/** Throws; `bytes` as they were on the wire. */
export function checkMessageSize(bytes: number): void {
  if (bytes > LIMIT) throw new Error(`an MCP message of ${bytes} bytes, and ${LIMIT} are allowed`);
}
