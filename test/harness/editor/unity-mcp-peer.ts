/**
 * An Editor with MCP for Unity, by what docs/reference/bridges.md says of its wire. It counts what it begins, and goes on with
 * it whatever becomes of the connection.
 */
import { once } from "node:events";
import { rmSync, utimesSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { basename, join } from "node:path";
import { createQueue } from "./tcp-peer.js";

type Params = Record<string, unknown>;

/** A command that it has begun. */
export interface Begun {
  type: string;
  params: Params;
  /** Ends and answers it. */
  finish(data?: unknown): void;
  /** Answers as after 30 s; the command goes on until `end`. */
  timeOut(): void;
  /** The command ends without an answer. */
  end(): void;
  /** Answers with this, and ends. */
  answer(text: string): void;
  /** These bytes as they are; ends nothing. */
  raw(bytes: Buffer | string): void;
}

export interface UnityMcpPeer {
  readonly port: number;
  readonly projectPath: string;
  /** The types of the commands that began, in order. */
  readonly begun: string[];
  /** How many connections were ever accepted. */
  readonly accepted: () => number;
  /** How often it was asked for a sign of life … */
  readonly pings: () => number;
  /** … and on its main thread, while that was busy. */
  readonly busyPings: () => number;
  /** The next command that began and was not handed out yet; from the first use on none is answered by itself. */
  next(): Promise<Begun>;
  /** Answers by itself again. */
  free(): void;
  /** What a command answers instead of running; so often, or always. */
  refuses(type: string, answer: object, times?: number): void;
  /** Writes its status file anew. */
  status(fields?: Params): void;
  dropConnections(): void;
  /** A domain reload: says so, ends everything that it holds, and comes back; on a new port if `moved`. */
  reload(options?: { moved?: boolean; away?: () => Promise<void> }): Promise<void>;
  /** As an Editor that quits: its file goes. With `crash` it stays. */
  close(options?: { crash?: boolean }): Promise<void>;
}

export interface UnityMcpPeerOptions {
  /** Holds the status files. */
  folder: string;
  projectPath: string;
  port?: number;
  greeting?: string;
  /** Its own tools, as `get_tool_states` lists them; null: an older bridge without that command. */
  tools?: object[] | null;
  /** What it says as its project, if it lies or does not know. */
  projectInfo?: object;
  /** Takes a connection in place of the bridge. */
  onConnection?(socket: Socket): void;
}

export const PONG = { status: "success", result: { message: "pong" } };
const TIMEOUT = { status: "error", error: "Command processing timed out after 30000 ms" };

const success = (data: unknown) => ({ status: "success", result: { success: true, message: "", data } });

export function unityFrame(text: string): Buffer {
  const body = Buffer.from(text);
  const header = Buffer.alloc(8);
  header.writeBigUInt64BE(BigInt(body.length));
  return Buffer.concat([header, body]);
}

export async function startUnityMcpPeer(options: UnityMcpPeerOptions): Promise<UnityMcpPeer> {
  const { folder, projectPath, greeting = "WELCOME UNITY-MCP 1 FRAMING=1\n" } = options;
  const begun: string[] = [];
  const refusals = new Map<string, { answer: object; times: number }>();
  const sockets = new Set<Socket>();
  let waiting = createQueue<Begun>();
  let byHand = false;
  /** Its main thread: one command at a time. */
  let busy = 0;
  let accepted = 0;
  let pings = 0;
  let busyPings = 0;
  let server: Server | undefined;
  let port = options.port ?? 0;

  const file = join(folder, `unity-mcp-status-${Buffer.from(projectPath).toString("hex").slice(-8)}.json`);
  const status: UnityMcpPeer["status"] = (fields = {}) => {
    const known = { unity_port: port, reloading: false, reason: "ready", seq: 1 };
    const project = { project_path: `${projectPath}/Assets`, project_name: basename(projectPath) };
    const text = JSON.stringify({ ...known, ...project, unity_version: "6000.0.1f1", ...fields });
    writeFileSync(file, text, { mode: 0o600 });
  };

  /** What it answers without running a command of a tool. */
  const answerTo = (type: string): object | undefined => {
    const refusal = refusals.get(type);
    if (refusal && refusal.times > 0) {
      refusal.times -= 1;
      return refusal.answer;
    }
    switch (type) {
      case "ping":
        if (busy > 0) busyPings += 1;
        return busy > 0 ? TIMEOUT : PONG;
      case "get_project_info":
        if (busy > 0) return TIMEOUT;
        return success(options.projectInfo ?? { projectRoot: projectPath, unityVersion: "6000.0.1f1" });
      case "get_tool_states":
        return options.tools
          ? success({ tools: options.tools, groups: [] })
          : {
              ...{ status: "error", error: `Unknown or unsupported command type: ${type}` },
              ...{ command: "Unknown (error during processing)", stackTrace: "" },
            };
      default:
        return undefined;
    }
  };

  const run = (socket: Socket, text: string): void => {
    const say = (answer: string | object): void => {
      if (socket.destroyed) return;
      socket.write(unityFrame(typeof answer === "string" ? answer : JSON.stringify(answer)));
    };
    const { type, params } =
      text === "ping" ? { type: "", params: {} } : (JSON.parse(text) as { type: string; params: Params });
    if (type === "") pings += 1;
    const answered = type === "" ? PONG : answerTo(type);
    if (answered) {
      say(answered);
      return;
    }
    begun.push(type);
    busy += 1;
    let ended = false;
    const end = (): void => {
      if (!ended) busy -= 1;
      ended = true;
    };
    const finish = (data: unknown = params): void => {
      end();
      say(success(data));
    };
    const answer = (said: string): void => {
      end();
      say(said);
    };
    const raw = (bytes: Buffer | string) => void socket.write(bytes);
    if (byHand) waiting.push({ type, params, finish, end, answer, raw, timeOut: () => say(TIMEOUT) });
    else finish();
  };

  const serve = (socket: Socket): void => {
    accepted += 1;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    if (options.onConnection) {
      options.onConnection(socket);
      return;
    }
    // A new client means to it that the last one is dead.
    for (const other of sockets) if (other !== socket) other.destroy();
    socket.write(greeting);
    let bytes = Buffer.alloc(0);
    socket.on("data", (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (;;) {
        const length = bytes.length < 8 ? undefined : Number(bytes.readBigUInt64BE());
        if (length === undefined || bytes.length < 8 + length) return;
        const text = bytes.subarray(8, 8 + length).toString();
        bytes = bytes.subarray(8 + length);
        run(socket, text);
      }
    });
  };

  const listen = async (): Promise<void> => {
    server = createServer({ noDelay: true }, serve);
    server.listen(port, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  };
  const dropConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const deafen = async (): Promise<void> => {
    const listening = server;
    server = undefined;
    const gone = listening && once(listening, "close");
    listening?.close();
    dropConnections();
    await gone;
  };

  await listen();
  status();
  return {
    get port() {
      return port;
    },
    projectPath,
    begun,
    accepted: () => accepted,
    pings: () => pings,
    busyPings: () => busyPings,
    next() {
      byHand = true;
      return waiting.take();
    },
    free() {
      byHand = false;
      waiting = createQueue<Begun>();
    },
    refuses: (type, answer, times = Number.POSITIVE_INFINITY) => void refusals.set(type, { answer, times }),
    status,
    dropConnections,
    async reload({ moved = false, away } = {}) {
      status({ reloading: true, reason: "reloading" });
      await deafen();
      // What ran in the old domain is over.
      busy = 0;
      await away?.();
      if (moved) port = 0;
      await listen();
      status();
    },
    async close({ crash = false } = {}) {
      await deafen();
      if (!crash) rmSync(file, { force: true });
      // Its last sign of life was a while ago.
      else utimesSync(file, new Date(), new Date(Date.now() - 60_000));
    },
  };
}
