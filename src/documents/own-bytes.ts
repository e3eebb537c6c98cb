/** Bytes with a buffer of their own: they can be moved between threads, and returned to the system. */

/** The buffers of such bytes. A piece of a larger buffer is left out: others may own the rest. */
export const ownBuffers = (chunks: readonly Uint8Array[]): ArrayBuffer[] =>
  chunks
    .filter((chunk) => chunk.byteLength === chunk.buffer.byteLength)
    .map((chunk) => chunk.buffer as ArrayBuffer);

/**
 * Frees the memory of the chunks now, instead of at a collection that an idle thread may never run: a
 * message without a receiver is destroyed with the buffers that were moved into it. The chunks are empty afterwards.
 */
export function release(chunks: readonly Uint8Array[]): void {
  const { port1, port2 } = new MessageChannel();
  port1.postMessage(undefined, ownBuffers(chunks));
  port1.close();
  port2.close();
}
