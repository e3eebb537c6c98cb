import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";

/**
 * A cable between a part under test and what it is connected to. A part whose every cable is cut is, for all others,
 * a process that was killed; one whose cables are held is a process that hangs, or a laptop that sleeps.
 */
export interface Cable {
  /** On 127.0.0.1: call here instead of at the far end. */
  readonly port: number;
  /** Ends every connection at once, and each new one, until `fix`. */
  cut(): void;
  /** Connections stand, but nothing goes through either way until `fix`. */
  hold(): void;
  /** Connections stand, words go out, but no answer comes back until `fix`. */
  deafen(): void;
  fix(): void;
  /** Every byte of either way arrives so much later, ms; 0 ends it for what comes from then on. */
  delay(ms: number): void;
  /**
   * What goes out on the connections that stand is kept back, and no answer comes; `cut` ends them for the near end,
   * which connects anew; `release` lets what was kept arrive late, on the old connections, and ends them.
   */
  strand(): { cut(): void; release(): void };
  /** Once: `act` runs when these words are about to go to the far end; if it cuts or holds, they do not arrive. */
  before(words: string, act: () => void): void;
  /** The same for words that come back from the far end. */
  beforeBack(words: string, act: () => void): void;
  /** Resolves when these words have come from the far end. */
  heard(words: string): Promise<void>;
  close(): Promise<void>;
}

/** Sees what goes through, and each connection end; `connection` counts from 1. */
export interface CableListener {
  passed(connection: number, way: "out" | "back", bytes: Buffer): void;
  ended(connection: number): void;
}

/** The endpoint of an Editor that is called through a cable: a forwarded port. */
export function forwarded<E extends { port: number }>(endpoint: E, cable: Pick<Cable, "port">): E {
  return { ...endpoint, port: cable.port, listensOn: `127.0.0.1:${endpoint.port}` };
}

interface Pair {
  number: number;
  near: Socket;
  far: Socket;
  /** What the near end has said since the connection is stranded. */
  kept: Buffer[] | undefined;
}

export async function layCable(farEnd: () => NetConnectOpts, listener?: CableListener): Promise<Cable> {
  const sockets = new Set<Socket>();
  const watches: { words: string; act: () => void; isOutward: boolean }[] = [];
  const pairs = new Set<Pair>();
  let state: "whole" | "cut" | "held" | "deaf" = "whole";
  let delayMs = 0;
  let count = 0;

  const trip = (chunk: Buffer, way: boolean): void => {
    const at = watches.findIndex(({ words, isOutward }) => isOutward === way && chunk.includes(words));
    if (at >= 0) watches.splice(at, 1)[0]?.act();
  };

  const pass = (from: Socket, to: Socket, isOutward: boolean, pair: Pair): void => {
    // What is late keeps what follows it late: bytes never overtake each other.
    const late: Buffer[] = [];
    const forward = (chunk: Buffer): void => {
      listener?.passed(pair.number, isOutward ? "out" : "back", chunk);
      if (delayMs === 0 && late.length === 0) return void to.write(chunk);
      late.push(chunk);
      setTimeout(() => to.write(late.shift() as Buffer), delayMs);
    };
    sockets.add(from);
    from.on("error", () => {
      // Breaking is what a cable is for.
    });
    from.on("data", (chunk) => {
      trip(chunk, isOutward);
      if (pair.kept) {
        if (isOutward) pair.kept.push(chunk);
        return;
      }
      if (state === "held" || (state === "deaf" && !isOutward)) {
        from.pause();
        from.unshift(chunk);
      } else if (state !== "cut") forward(chunk);
    });
    from.on("close", () => {
      sockets.delete(from);
      if (isOutward) listener?.ended(pair.number);
      if (!pair.kept) to.destroy();
      pairs.delete(pair);
    });
  };

  const server = createServer({ noDelay: true }, (near) => {
    if (state === "cut") {
      near.destroy();
      return;
    }
    const far = connect({ ...farEnd(), noDelay: true } as NetConnectOpts);
    count += 1;
    const pair: Pair = { number: count, near, far, kept: undefined };
    pairs.add(pair);
    pass(near, far, true, pair);
    pass(far, near, false, pair);
    if (state === "held") for (const socket of [near, far]) socket.pause();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  const cut = (): void => {
    state = "cut";
    for (const socket of sockets) socket.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    hold() {
      state = "held";
      for (const socket of sockets) socket.pause();
    },
    deafen() {
      state = "deaf";
    },
    fix() {
      state = "whole";
      for (const socket of sockets) socket.resume();
    },
    delay(ms) {
      delayMs = ms;
    },
    strand() {
      const stranded = [...pairs];
      for (const pair of stranded) pair.kept = [];
      const cutNear = (): void => {
        for (const { near } of stranded) near.destroy();
      };
      return {
        cut: cutNear,
        release() {
          cutNear();
          for (const { number, far, kept } of stranded) {
            const bytes = Buffer.concat(kept ?? []);
            listener?.passed(number, "out", bytes);
            far.end(bytes);
          }
        },
      };
    },
    before: (words, act) => void watches.push({ words, act, isOutward: true }),
    beforeBack: (words, act) => void watches.push({ words, act, isOutward: false }),
    heard: (words) =>
      new Promise((resolve) => watches.push({ words, act: () => resolve(), isOutward: false })),
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
