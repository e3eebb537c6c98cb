import { once } from "node:events";
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from "node:net";

/**
 * A cable between a part under test and what it is connected to. A part whose every cable is cut is, for all others,
 * a process that was killed; one whose cables are held is a process that hangs, or a laptop that sleeps.
 */
export interface Cable {
  /** On 127.0.0.1: call here instead of at the far end. */
  readonly port: number;
  /** Ends every connection at once, and each new one, until `mend`. */
  cut(): void;
  /** Connections stand, but nothing goes through either way until `mend`. */
  hold(): void;
  /** Connections stand, words go out, but no answer comes back until `mend`. */
  deafen(): void;
  mend(): void;
  /** Once: `act` runs when these words are about to go to the far end; if it cuts or holds, they do not arrive. */
  before(words: string, act: () => void): void;
  /** Resolves when these words have come from the far end. */
  heard(words: string): Promise<void>;
  close(): Promise<void>;
}

export async function layCable(farEnd: () => NetConnectOpts): Promise<Cable> {
  const sockets = new Set<Socket>();
  const watches: { words: string; act: () => void; isOutward: boolean }[] = [];
  let state: "whole" | "cut" | "held" | "deaf" = "whole";

  const trip = (chunk: Buffer, way: boolean): void => {
    const at = watches.findIndex(({ words, isOutward }) => isOutward === way && chunk.includes(words));
    if (at >= 0) watches.splice(at, 1)[0]?.act();
  };

  const pass = (from: Socket, to: Socket, isOutward: boolean): void => {
    sockets.add(from);
    from.on("error", () => {
      // Breaking is what a cable is for.
    });
    from.on("data", (chunk) => {
      trip(chunk, isOutward);
      if (state === "held" || (state === "deaf" && !isOutward)) {
        from.pause();
        from.unshift(chunk);
      } else if (state !== "cut") to.write(chunk);
    });
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
  };

  const server = createServer({ noDelay: true }, (near) => {
    if (state === "cut") {
      near.destroy();
      return;
    }
    const far = connect({ ...farEnd(), noDelay: true } as NetConnectOpts);
    pass(near, far, true);
    pass(far, near, false);
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
    mend() {
      state = "whole";
      for (const socket of sockets) socket.resume();
    },
    before: (words, act) => void watches.push({ words, act, isOutward: true }),
    heard: (words) =>
      new Promise((resolve) => watches.push({ words, act: () => resolve(), isOutward: false })),
    async close() {
      cut();
      server.close();
      await once(server, "close");
    },
  };
}
