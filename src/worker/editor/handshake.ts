/** Sends hello to an Editor, and again with a raised fence while this owner holds the lease. */
import { z } from "zod";
import { RpcFailure } from "../../shared/wire/rpc.js";
import { EDITOR_CODES, HelloResult, PROTOCOL_VERSION } from "../../shared/wire/wire.js";
import type { Connection } from "../transport/connection.js";
import { UnreadableAnswer } from "./editor-calls.js";
import { askProven, type EditorSecret } from "./proving.js";

/** The fence (▲11): who owns the Editor. Read again for each hello. */
export interface Fence {
  epoch: number;
  ownerNonce: string;
}

export interface WorkerIdentity {
  /** How people find it; the Editor's window shows it. */
  brokerId: string;
  workerId: string;
  version: string;
}

export interface HelloDeps {
  /** If known, the Editor `editorId` must answer: another project may have taken the port. */
  endpoint: EditorSecret & { editorId?: string | undefined };
  fence(): Fence;
  identity: WorkerIdentity;
  /** The store's id. Asked for at each hello: a store that was emptied may have got back the one that the Editor knows. */
  storeId(): Promise<string>;
  /** Resolves whether to send hello again, with the fence of that moment. */
  onFenced(highestEpoch: number): Promise<boolean> | boolean;
}

/** Another Editor listens at this one's address; nothing was submitted to it. */
export class WrongEditor extends Error {
  override readonly name = "WrongEditor";
  readonly expected: string;
  readonly found: string;

  constructor(expected: string, found: string) {
    super(`the port of ${expected} is answered by ${found}`);
    this.expected = expected;
    this.found = found;
  }
}

const FencedData = z.looseObject({ highestEpoch: z.int().nonnegative() });
/** A lease holder needs at most one more hello; a third means that two brokers outbid each other. */
const MAX_HELLOS = 3;

/**
 * Resolves the Editor's hello, or undefined if this owner is fenced and must not repeat it. Rejects as askProven
 * does, and with WrongEditor. FENCED more than twice in a row rejects as that RpcFailure.
 */
export async function shakeHands(connection: Connection, deps: HelloDeps): Promise<HelloResult | undefined> {
  for (let hellos = 1; ; hellos++) {
    try {
      const storeId = await deps.storeId();
      const params = { protocol: PROTOCOL_VERSION, log: true, storeId, ...deps.identity, ...deps.fence() };
      const hello = await askProven(connection, deps.endpoint, HelloResult, "bridge/hello", params);
      // An Editor that says hello cannot claim to keep no ledger.
      const { plain: _none, bridge: _unnamed, ...said } = hello;
      return checked(said, deps.endpoint.editorId);
    } catch (error) {
      const highestEpoch = fencedBy(error);
      if (highestEpoch === undefined || hellos === MAX_HELLOS) throw error;
      if (!(await deps.onFenced(highestEpoch))) return undefined;
    }
  }
}

/** The highest epoch of a FENCED answer; undefined for any other error. */
function fencedBy(error: unknown): number | undefined {
  if (!(error instanceof RpcFailure) || error.code !== EDITOR_CODES.FENCED) return undefined;
  return FencedData.safeParse(error.data).data?.highestEpoch;
}

function checked(hello: HelloResult, expectedEditorId: string | undefined): HelloResult {
  if (hello.protocol !== PROTOCOL_VERSION) {
    throw new UnreadableAnswer("bridge/hello", `the Editor speaks protocol ${hello.protocol}`);
  }
  if (expectedEditorId !== undefined && hello.editorId !== expectedEditorId) {
    throw new WrongEditor(expectedEditorId, hello.editorId);
  }
  return hello;
}
