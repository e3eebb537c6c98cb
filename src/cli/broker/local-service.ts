/**
 * The broker's place on this machine: the claim to be the only one of its configuration, the local socket, and its
 * connections. Held for the whole life of a broker.
 */

import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../embedded-redis/directories.js";
import { makeSocketPath, removeSocket } from "../../embedded-redis/run-directory.js";
import type { PipeLine, PipeSession } from "../../gateway/mcp/pipe/pipe-session.js";
import { identify } from "../../shared/machine/living-process.js";
import { alone } from "../../shared/machine/start-claim.js";
import type { PipeHello, ToPipe } from "../../shared/pipe-frames.js";
import { isNewer, keepEndpoint, readEndpoint, removeEndpoint } from "../pipe/broker-place.js";
import { type Connections, createConnections } from "./connections.js";

/** Where a broker listens for the pipes of this user's clients, and for nobody else. */
export interface LocalSocket {
  /** Accepts nobody any more, and is found by nobody; the connections stay. */
  close(): Promise<void>;
}

/**
 * Listens, and tells in the broker's folder where. Call it with the claim to serve held: what is left at its address is
 * of a broker that has ended.
 */
async function listen(
  { folder, env, version }: { folder: string; env: Environment; version: string },
  onConnection: (socket: Socket) => void,
): Promise<LocalSocket> {
  const socket = socketPath(folder, env);
  const server = createServer(onConnection);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(socket, resolve);
  });
  // One connection that cannot be accepted (too many open files) is no reason to end the others.
  server.on("error", () => undefined);
  const letGo = keepEndpoint(folder, {
    pid: process.pid,
    mark: identify(process.pid)?.mark,
    socket,
    version,
  });
  return {
    close() {
      letGo();
      removeEndpoint(folder, process.pid);
      // Waits for the connections; closing the last one calls back.
      server.close();
      if (process.platform !== "win32") removeSocket(socket);
      return Promise.resolve();
    },
  };
}

function socketPath(folder: string, env: Environment): string {
  // Its directory keeps others out of a unix socket. A pipe of Windows has none: there its name is the secret, which stands
  // in the endpoint file alone, and the system's default lets no other user write to it.
  if (process.platform === "win32") return `\\\\.\\pipe\\ujb-${randomBytes(16).toString("hex")}`;
  const path = makeSocketPath(folder, env, tmpdir(), "broker.sock");
  rmSync(path, { force: true });
  return path;
}

type OpenSession = (line: PipeLine, hello: PipeHello) => PipeSession;

export interface LocalService {
  readonly connections: Connections;
  /** Resolves when a process asked the broker to end: `stop`, or `drain` to hand over to the broker that follows. */
  readonly asked: Promise<"stop" | "drain">;
  /** Sessions are opened from now on. `mayHandOver`: asked before a `drain` is done. */
  opens(open: OpenSession, mayHandOver?: () => Promise<boolean>): void;
  announce(header: ToPipe): void;
  /** It will not serve: the clients receive the reason. */
  failed(why: { message: string; exitCode: number }): void;
  /** Nobody finds it any more; its connections stay. */
  leave(): Promise<void>;
  /** Ends what is left, and lets another broker take the place. */
  close(): Promise<void>;
}

export interface LocalServiceOptions {
  folder: string;
  env: Environment;
  version: string;
  isForeground: boolean;
}

/** Longer than any broker takes to end. */
const CLAIM_LIMIT_MS = 60_000;

/** Takes the place; undefined if a broker has it that is not older. Rejects if another keeps it and does not serve. */
export async function openLocalService(options: LocalServiceOptions): Promise<LocalService | undefined> {
  const { folder, version } = options;
  const serving = join(folder, "serving");
  mkdirSync(serving, { recursive: true, mode: 0o700 });
  let isOver: () => void = () => undefined;
  const over = new Promise<void>((resolve) => {
    isOver = resolve;
  });
  const isTaken = async (): Promise<"taken" | undefined> => {
    const endpoint = readEndpoint(folder);
    return endpoint && !isNewer(version, endpoint.version) ? "taken" : undefined;
  };
  return new Promise((resolve, reject) => {
    const claim = { timeoutMs: CLAIM_LIMIT_MS, meanwhile: isTaken, tooLong };
    alone<"taken" | undefined>(serving, claim, async () => {
      const service = await open(options, isOver);
      resolve(service);
      await over;
      return undefined;
    }).then((taken) => taken && resolve(undefined), reject);
  });
}

function tooLong(pid: string, claim: string): Error {
  return new Error(
    `Process ${pid} has the place of this broker and does not serve. End it, or delete ${claim}.`,
  );
}

async function open(
  { folder, env, version, isForeground }: LocalServiceOptions,
  isOver: () => void,
): Promise<LocalService> {
  const startedAt = Date.now();
  let isAsked: (what: "stop" | "drain") => void = () => undefined;
  const asked = new Promise<"stop" | "drain">((resolve) => {
    isAsked = resolve;
  });
  let opens: (open: OpenSession) => void = () => undefined;
  let mayHandOver = async (): Promise<boolean> => true;
  const opening = new Promise<OpenSession>((resolve) => {
    opens = resolve;
  });
  const connections = createConnections({
    version,
    opening,
    status: () => ({ isForeground, startedAt }),
    async asked({ ask }) {
      if (ask === "status") return true;
      // A later version may ask for more.
      if (ask !== "stop" && ask !== "drain") return false;
      if (ask === "drain" && !(await mayHandOver().catch(() => true))) return false;
      isAsked(ask);
      return true;
    },
  });
  const socket = await listen({ folder, env, version }, connections.add);
  return {
    connections,
    asked,
    opens(open, mayBeAsked = mayHandOver) {
      mayHandOver = mayBeAsked;
      opens(open);
    },
    announce: connections.announce,
    failed: ({ message, exitCode }) =>
      connections.announce({ kind: "failed", message, isUsage: exitCode === 2 }),
    leave: socket.close,
    async close() {
      await socket.close();
      await connections.close();
      isOver();
    },
  };
}
