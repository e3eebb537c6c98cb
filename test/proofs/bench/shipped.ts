/** The modules under measurement as they are shipped: built, not transpiled on the way. */
const dist = (path: string): string => new URL(`../../../dist/${path}`, import.meta.url).href;

export const { openStore } = (await import(
  dist("shared/store/store.js")
)) as typeof import("../../../src/shared/store/store.js");

export const { encodeResult } = (await import(
  dist("shared/store/operations/record.js")
)) as typeof import("../../../src/shared/store/operations/record.js");

export const { openJournal } = (await import(
  dist("simulator/ledger/journal.js")
)) as typeof import("../../../src/simulator/ledger/journal.js");

export const { createSimulatedEditor } = (await import(
  dist("simulator/editor.js")
)) as typeof import("../../../src/simulator/editor.js");

export const { createFrameParser, encodeFrame, parseRpc, rpcRequest, rpcResult } = (await import(
  dist("shared/wire/rpc.js")
)) as typeof import("../../../src/shared/wire/rpc.js");
