/**
 * The way of one process to Redis, command by command: the place where a process is made to die between two writes.
 *
 * It also lets a process use a server on a unix socket by a URL.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";

export type RedisCommand = readonly string[];

export interface RedisLine {
  readonly url: string;
  /**
   * Once: when a command that matches comes by, `act` runs. `before`: the command never reaches Redis. `after`: Redis
   * executes it, its answer never reaches the process. Either way nothing more goes through until `fix`.
   */
  cutAt(when: "before" | "after", matches: (command: RedisCommand) => boolean, act: () => void): void;
  /** Whole again, and no longer watched. */
  fix(): void;
  close(): Promise<void>;
}

interface Watch {
  when: "before" | "after";
  matches: (command: RedisCommand) => boolean;
  act: () => void;
}

export async function layRedisLine(server: NetConnectOpts): Promise<RedisLine> {
  const sockets = new Set<Socket>();
  let watch: Watch | undefined;
  let isCut = false;
  /** Redis executes the command after which it is cut. */
  let isAboutToCut = false;

  const cut = (): void => {
    const act = watch?.act;
    watch = undefined;
    isCut = true;
    act?.();
  };

  const own = (socket: Socket, other: Socket): void => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => {
      sockets.delete(socket);
      other.destroy();
    });
  };

  const listener = createServer({ noDelay: true }, (near) => {
    const far = connect({ ...server, noDelay: true } as NetConnectOpts);
    own(near, far);
    own(far, near);
    const parser = createCommandParser();
    /** Set behind the last command. */
    let marker: string | undefined;
    near.on("data", (chunk) => {
      for (const { command, bytes } of parser.push(chunk)) {
        if (isCut || marker !== undefined) return;
        if (watch?.matches(command)) {
          if (watch.when === "before") return cut();
          isAboutToCut = true;
          marker = randomUUID();
        }
        far.write(bytes);
        // Answers come in order: what comes before this one may be that to an earlier command.
        if (marker !== undefined) far.write(`*2\r\n$4\r\nECHO\r\n$${marker.length}\r\n${marker}\r\n`);
      }
    });
    let answers = "";
    far.on("data", (chunk) => {
      if (isCut) return;
      if (marker === undefined) near.write(chunk);
      else {
        answers += chunk.toString("latin1");
        if (answers.includes(marker)) cut();
      }
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");

  return {
    url: `redis://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    cutAt(when, matches, act) {
      watch = { when, matches, act };
    },
    fix() {
      watch = undefined;
      if (!isCut && !isAboutToCut) return;
      isCut = false;
      isAboutToCut = false;
      // What was cut lost some bytes: a connection that still stands would be out of step. One that was about to be
      // cut, by the answer to a command that blocks, would be cut from now on.
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, "close");
    },
  };
}

const LINE_END = Buffer.from("\r\n");

/** Whole commands, each with the very bytes it came in. Clients send arrays of bulk strings and nothing else. */
function createCommandParser() {
  let left: Buffer = Buffer.alloc(0);

  const readLength = (at: number): { value: number; next: number } | undefined => {
    const end = left.indexOf(LINE_END, at);
    return end < 0 ? undefined : { value: Number(left.toString("latin1", at + 1, end)), next: end + 2 };
  };

  const readCommand = (): { command: string[]; size: number } | undefined => {
    const head = readLength(0);
    if (!head) return undefined;
    const command: string[] = [];
    let at = head.next;
    for (let part = 0; part < head.value; part += 1) {
      const length = readLength(at);
      if (!length || left.length < length.next + length.value + 2) return undefined;
      command.push(left.toString("utf8", length.next, length.next + length.value));
      at = length.next + length.value + 2;
    }
    return { command, size: at };
  };

  return {
    *push(chunk: Buffer): Generator<{ command: RedisCommand; bytes: Buffer }> {
      left = left.length === 0 ? chunk : Buffer.concat([left, chunk]);
      for (let read = readCommand(); read; read = readCommand()) {
        const bytes = left.subarray(0, read.size);
        left = left.subarray(read.size);
        yield { command: read.command, bytes };
      }
    },
  };
}

/** The script that creates an operation, with its job: the only one that gives it a turn and asks for room. */
export function createsRecord(command: RedisCommand): boolean {
  return isApply(command) && ["turns", "room-wanted"].every((name) => hasKey(command, name));
}

const hasKey = (command: RedisCommand, name: string): boolean =>
  command.some((part) => part.startsWith(`{ujb}:${name}:`));

/** Any write of an operation. */
export function isApply(command: RedisCommand): boolean {
  return runsScript(command) && hasKey(command, "chain");
}

/** By its text the first time on a connection, by its hash from then on. */
function runsScript([name = ""]: RedisCommand): boolean {
  return /^eval(sha)?$/i.test(name);
}
