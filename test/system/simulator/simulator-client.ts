/** A small worker for the simulator's tests: real TCP, framing and rpc, nothing of src/worker. */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  createFrameParser,
  encodeFrame,
  parseRpc,
  type RpcError,
  rpcRequest,
} from "../../../src/shared/wire/rpc.js";
import type { Outcome } from "../../../src/shared/wire/wire.js";
import { createSimulatedEditor, type SimulatedEditor } from "../../../src/simulator/editor.js";
import type { SimulatedEditorOptions } from "../../../src/simulator/options.js";
import { askProven } from "../../harness/editor/proof.js";
import { createBench } from "../../harness/system/bench.js";

export type Params = Record<string, unknown>;

export interface Client {
  /** Rejects with the peer's error, or when the connection ends first. */
  request(method: string, params?: unknown): Promise<Params>;
  /** The error that the peer answers; fails when it answers a result. */
  refusal(method: string, params?: unknown): Promise<RpcError>;
  /** The oldest notification of this method that fits and was not handed out yet, present or to come. */
  notice(method: string, fits?: (params: Params) => boolean): Promise<Params>;
  /** Notifications that nobody has asked for yet. */
  unread(method: string): Params[];
  raw(bytes: Buffer | string): void;
  /** Settles with the errors that answered no request, when the connection is gone. */
  gone: Promise<RpcError[]>;
  close(): void;
}

export async function connectClient(port: number): Promise<Client> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  await once(socket, "connect");
  const parser = createFrameParser(64 * 1024 * 1024);
  const pending = new Map<unknown, { resolve(value: Params): void; reject(error: unknown): void }>();
  const notices: { method: string; params: Params }[] = [];
  const watchers = new Set<() => void>();
  const strays: RpcError[] = [];
  let nextId = 1;
  let ended = false;

  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    parser.push(chunk);
    for (let frame = parser.next(); frame; frame = parser.next()) {
      if (frame.kind === "malformed") {
        socket.destroy();
        return;
      }
      if (frame.kind !== "message") continue;
      const message = parseRpc(frame.text);
      if (message.kind === "notification") {
        notices.push({ method: message.method, params: message.params as Params });
        for (const look of [...watchers]) look();
      } else if (message.kind === "result") {
        pending.get(message.id)?.resolve(message.result as Params);
        pending.delete(message.id);
      } else if (message.kind === "error") {
        if (!pending.has(message.id)) strays.push(message.error);
        pending.get(message.id)?.reject(message.error);
        pending.delete(message.id);
      }
    }
  });
  // Not `once`: it rejects on the error of a reset, which is an ordinary end here.
  const gone = new Promise<void>((resolve) => socket.on("close", () => resolve())).then(() => {
    ended = true;
    for (const { reject } of pending.values()) reject(new Error("the connection ended"));
    for (const look of [...watchers]) look();
    return strays;
  });

  const request = (method: string, params: unknown = {}): Promise<Params> =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      pending.set(id, { resolve, reject });
      socket.write(encodeFrame(rpcRequest(id, method, params)));
    });

  return {
    request,
    refusal: (method, params) =>
      request(method, params).then(
        (result) => Promise.reject(new Error(`not refused: ${JSON.stringify(result)}`)),
        (error: unknown) => (error instanceof Error ? Promise.reject(error) : (error as RpcError)),
      ),
    notice: (method, fits = () => true) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const index = notices.findIndex((one) => one.method === method && fits(one.params));
          const [found] = index < 0 ? [] : notices.splice(index, 1);
          if (!found && !ended) return;
          watchers.delete(look);
          if (found) resolve(found.params);
          else reject(new Error(`the connection ended without ${method}`));
        };
        watchers.add(look);
        look();
      }),
    unread: (method) => notices.filter((one) => one.method === method).map((one) => one.params),
    raw: (bytes) => void socket.write(bytes),
    gone,
    close: () => socket.destroy(),
  };
}

/** A client that said hello, and its way to submit. */
export interface Owner extends Client {
  hello: Params;
  submit(operationId: string, fields?: Params): Promise<Params>;
  submitParams(operationId: string, fields?: Params): Params;
  /** `operation/list` to its end, page behind page. */
  list(): Promise<Params[]>;
  /** Begins an operation that holds the main thread; the answer ends it (as cancelled). */
  hold(operationId: string): Promise<() => Promise<void>>;
  /** The outcome, as soon as the Editor tells it. */
  finished(operationId: string): Promise<Outcome>;
}

/** What a client needs to know of an Editor. */
export interface Address {
  readonly port: number;
  readonly token: string;
}

const helloParams = (fields: Params = {}): Params => ({
  protocol: 1,
  storeId: "store-1",
  brokerId: "broker-1",
  workerId: "worker-1",
  version: "test",
  epoch: 1,
  ownerNonce: "nonce-1",
  ...fields,
});

/** Says hello and proves it; rejects with the refusal. */
export const shakeHands = (client: Client, editor: Address, fields: Params = {}): Promise<Params> =>
  askProven(client, editor, "bridge/hello", helloParams(fields));

/** The error that hello or its proof is answered. */
export const helloRefusal = (client: Client, editor: Address, fields: Params = {}): Promise<RpcError> =>
  shakeHands(client, editor, fields).then(
    (hello) => Promise.reject(new Error(`not refused: ${JSON.stringify(hello)}`)),
    (error: unknown) => (error instanceof Error ? Promise.reject(error) : (error as RpcError)),
  );

export async function own(editor: Address, fields: Params = {}): Promise<Owner> {
  const client = await connectClient(editor.port);
  const hello = await shakeHands(client, editor, fields);
  const submitParams = (operationId: string, more: Params = {}): Params => ({
    operationId,
    hash: `hash-of-${operationId}`,
    after: null,
    origin: { principal: "local", tool: String(more.tool ?? "execute-menu-item"), fingerprint: "f" },
    tool: "execute-menu-item",
    arguments: { MenuItemPath: "Simulator/Block For 0.05 Seconds" },
    argumentsHash: "a",
    acceptedAt: Date.now(),
    epoch: fields.epoch ?? 1,
    ownerNonce: fields.ownerNonce ?? "nonce-1",
    ledgerId: hello.ledgerId,
    ...more,
  });
  return {
    ...client,
    hello,
    submitParams,
    submit: (operationId, more) => client.request("operation/submit", submitParams(operationId, more)),
    async list() {
      let page = await client.request("operation/list", {});
      const operations = [...(page.operations as Params[])];
      while (page.nextCursor !== undefined) {
        page = await client.request("operation/list", { cursor: page.nextCursor });
        operations.push(...(page.operations as Params[]));
      }
      return operations;
    },
    async hold(operationId) {
      const endless = { tool: "work-cancellable", arguments: { Name: operationId, Hold: true } };
      await client.request("operation/submit", submitParams(operationId, endless));
      await client.notice("operation/running", (params) => params.operationId === operationId);
      return async () => void (await client.request("operation/cancel", { operationId }));
    },
    finished: async (operationId) => {
      const reported = await client.notice(
        "operation/finished",
        (params) => params.operationId === operationId,
      );
      return reported.outcome as Outcome;
    },
  };
}

/** Editors and clients of one test, closed in the end whatever happened. */
export function createStage() {
  const closers: (() => unknown)[] = [];
  return {
    async editor(options: SimulatedEditorOptions = {}): Promise<SimulatedEditor> {
      const stateFolder = await mkdtemp(join(tmpdir(), "simulated-editor-"));
      closers.push(() => rm(stateFolder, { recursive: true, force: true }));
      const { tools } = createBench();
      const given = { port: 0, stateFolder, heartbeatMs: 50, tools, ...options };
      const editor = await createSimulatedEditor(given);
      closers.push(() => editor.close());
      return editor;
    },
    async client(editor: SimulatedEditor): Promise<Client> {
      const client = await connectClient(editor.port);
      closers.push(() => client.close());
      return client;
    },
    async owner(editor: SimulatedEditor, fields: Params = {}): Promise<Owner> {
      const owner = await own(editor, fields);
      closers.push(() => owner.close());
      return owner;
    },
    async clear(): Promise<void> {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

/** How often each operation began. */
export function executions(editor: SimulatedEditor): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { operationId } of editor.counter()) counts[operationId] = (counts[operationId] ?? 0) + 1;
  return counts;
}
