/** A way to the Editor on which a submit is held back: sent, and not yet read by the Editor. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface FrameHolder {
  /** On 127.0.0.1: call here instead of at the Editor. */
  readonly port: number;
  /** Resolves when a submit is held. */
  readonly held: Promise<void>;
  /** The sender loses the connection; what is held is still on its way. */
  lose(): void;
  /** The Editor reads what was held; resolves with its answer, or empty when it cut the connection before. */
  release(): Promise<string>;
  close(): Promise<void>;
}

/** Holds the first submit, and whatever follows it on its connection. Others pass. */
export async function holdFrame(editorPort: number): Promise<FrameHolder> {
  const sockets = new Set<Socket>();
  let caught: { near: Socket; far: Socket; bytes: Buffer[] } | undefined;
  let tell: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    tell = resolve;
  });

  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ host: "127.0.0.1", port: editorPort, noDelay: true });
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    const isCaught = (): boolean => caught?.near === near;
    near.on("data", (chunk) => {
      if (!caught && chunk.includes('"operation/submit"')) {
        caught = { near, far, bytes: [] };
        tell();
      }
      if (isCaught()) caught?.bytes.push(chunk);
      else far.write(chunk);
    });
    far.on("data", (chunk) => near.write(chunk));
    // The held one's far end stands for bytes under way: it outlives its sender.
    near.on("close", () => isCaught() || far.destroy());
    far.on("close", () => near.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");

  return {
    port: (server.address() as AddressInfo).port,
    held,
    lose: () => void caught?.near.destroy(),
    release() {
      if (!caught) throw new Error("nothing is held");
      const { far, bytes } = caught;
      return new Promise((resolve) => {
        if (far.destroyed) return resolve("");
        far.on("close", () => resolve(""));
        far.on("data", (chunk) => {
          const text = chunk.toString();
          if (/"(result|error)":/.test(text)) resolve(text);
        });
        for (const chunk of bytes) far.write(chunk);
      });
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
