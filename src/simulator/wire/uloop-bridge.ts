/**
 * The surface of a plain uLoop bridge (v0.29 to v2.1.1), for tests of the worker: no hello and no ledger.
 * Every call runs, however often it is sent; a connection is strictly serial; a lost connection cancels nothing; every
 * error is -32603, and only its data identifies it.
 */
import { randomUUID } from "node:crypto";
import type { ToolDetails } from "../../shared/tools/tool.js";
import { RPC_INTERNAL_ERROR } from "../../shared/wire/rpc.js";
import type { Outcome } from "../../shared/wire/wire.js";
import type { Lanes } from "../lanes.js";
import type { CounterFile } from "../ledger/counter-file.js";
import { readArguments } from "../tool-definition.js";
import type { ToolTable } from "../tools.js";
import type { World } from "../world.js";
import { ULOOP_SESSION } from "./endpoint-file.js";
import type { PushClient } from "./push-client.js";
import type { Answer, Peer } from "./tcp-server.js";

export interface UloopBridgeDeps {
  tools: ToolTable;
  world: World;
  lanes: Lanes;
  counter: CounterFile;
  push: PushClient;
  projectPath: string;
  now(): number;
  /** Passes simulated time; rejects when the process ends. */
  pass(seconds: number): Promise<void>;
  requestReload(): void;
  securityRefusal(tool: string, args: Record<string, unknown>): string | undefined;
}

export function createUloopBridge(deps: UloopBridgeDeps) {
  /** By connection: its last request. */
  const turns = new Map<Peer, Promise<unknown>>();
  const ended = new AbortController();
  const clientNames: string[] = [];

  const invoke = (tool: string, args: Record<string, unknown>): Promise<Outcome["result"]> =>
    new Promise((resolve, reject) => {
      const definition = deps.tools.get(tool);
      if (!definition) return reject(new Error(`Unknown tool: ${tool}`));
      const operationId = `plain-${randomUUID()}`;
      const read = readArguments(args);
      let reloads = false;
      const run = async (): Promise<void> => {
        try {
          if (definition.effect !== "read_only") {
            deps.counter.append({ operationId, what: definition.label?.(read) ?? tool, at: deps.now() });
          }
          const { world, pass } = deps;
          const reloadAfterwards = (): void => {
            reloads = true;
          };
          const call = { operationId, args: read, world, signal: ended.signal, wait: pass, reloadAfterwards };
          // Such a bridge does not reload the domain while it runs tests: its answer would be lost with the connection.
          const reload = () => Promise.resolve();
          resolve(await definition.run({ ...call, reload, progress: () => undefined }));
        } catch (error) {
          reject(error as Error);
        }
        if (reloads) deps.requestReload();
      };
      deps.lanes.add({ operationId, lane: "main", blocksMainThread: definition.blocksMainThread, run });
    });

  const answer = async (method: string, params: unknown, guard: unknown): Promise<Answer> => {
    const another = guard === undefined ? undefined : mismatch(guard as Guard, deps.projectPath);
    if (another !== undefined) return refused(another);
    const args = (params ?? {}) as Record<string, unknown>;
    switch (method) {
      case "get-tool-details":
        return { result: { Tools: deps.tools.details().map(plainDetails), Ver: "2.1.1" } };
      case "set-client-name":
        clientNames.push(String(args.ClientName));
        if (typeof args.PushNotificationEndpoint === "string") {
          deps.push.connectTo(args.PushNotificationEndpoint, undefined);
        }
        return { result: { Message: `Client name registered: ${String(args.ClientName)}`, Ver: "2.1.1" } };
      default: {
        if (deps.securityRefusal(method, args) !== undefined) {
          return refused(`Tool '${method}' is disabled. To enable it, go to Window > uLoop > Tool Settings`);
        }
        return invoke(method, args).then(
          (result) => ({ result: result ?? null }),
          (error: Error) => internal(error.message),
        );
      }
    }
  };

  return {
    /** The names that clients gave themselves, in order. */
    clientNames: (): readonly string[] => clientNames,
    closed: (peer: Peer): void => void turns.delete(peer),
    handle(peer: Peer, method: string, params: unknown, guard?: unknown): Promise<Answer> {
      const before = turns.get(peer) ?? Promise.resolve();
      const turn = before.then(() => answer(method, params, guard));
      turns.set(peer, turn);
      return turn;
    },
    close: (): void => ended.abort(),
  };
}

/** Such bridges do not report a tool's effect. */
function plainDetails({ name, description, parameterSchema }: ToolDetails): object {
  return { name, description, parameterSchema, displayDevelopmentOnly: false };
}

interface Guard {
  expectedProjectRoot?: unknown;
  expectedServerSessionId?: unknown;
}

/** Compared before anything runs, and both must be there. */
function mismatch({ expectedProjectRoot, expectedServerSessionId }: Guard, projectPath: string) {
  if (!expectedProjectRoot) return "Invalid x-uloop metadata: expectedProjectRoot is required.";
  if (!expectedServerSessionId) return "Invalid x-uloop metadata: expectedServerSessionId is required.";
  if (expectedProjectRoot !== projectPath) return "Connected Unity instance belongs to a different project.";
  if (expectedServerSessionId === ULOOP_SESSION) return undefined;
  return "Unity CLI Loop server session changed. Retry the command.";
}

function refused(message: string): Answer {
  return { error: { code: RPC_INTERNAL_ERROR, message, data: { type: "internal_error", message: "" } } };
}

function internal(message: string): Answer {
  const data = { type: "internal_error", message };
  return { error: { code: RPC_INTERNAL_ERROR, message: "Internal error", data } };
}
