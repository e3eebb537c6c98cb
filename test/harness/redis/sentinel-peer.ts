/** A TCP peer that answers as a Sentinel does, when the test wants it to. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";

export interface SentinelPeer {
  readonly port: number;
  /** Keeps back its answers to the question for the master; resolves when somebody asks. */
  asked(): Promise<void>;
  /** Gives the answers that it kept back. */
  answer(): void;
  /** Says to everybody that listens that there is another master. */
  announce(): void;
  close(): Promise<void>;
}

/** `masterPort`: undefined, it knows no master of that name. */
export async function startSentinelPeer(masterPort: number | undefined): Promise<SentinelPeer> {
  const sockets = new Set<Socket>();
  const listening = new Set<Socket>();
  const kept: (() => void)[] = [];
  let onAsked: (() => void) | undefined;
  const bulk = (text: string): string => `$${text.length}\r\n${text}\r\n`;
  const master =
    masterPort === undefined ? "*-1\r\n" : `*2\r\n${bulk("127.0.0.1")}${bulk(String(masterPort))}`;

  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => [sockets, listening].forEach((all) => void all.delete(socket)));
    socket.setEncoding("latin1").on("data", (text: string) => {
      for (const command of text.split(/^\*\d+\r\n/m).slice(1)) {
        const [name = "", second = ""] = command.split("\r\n").filter((_line, at) => at % 2 === 1);
        if (/^subscribe$/i.test(name)) {
          listening.add(socket);
          socket.write(`*3\r\n${bulk("subscribe")}${bulk("+switch-master")}:1\r\n`);
        } else if (/^get-master/i.test(second)) {
          const say = (): void => void socket.write(master);
          if (onAsked) {
            kept.push(say);
            onAsked();
          } else say();
        } else if (/^hello$/i.test(name)) socket.write("-ERR unknown command 'HELLO'\r\n");
        else socket.write(/^sentinel$/i.test(name) ? "*0\r\n" : "+OK\r\n");
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    asked: () =>
      new Promise((resolve) => {
        onAsked = resolve;
      }),
    answer() {
      onAsked = undefined;
      for (const say of kept.splice(0)) say();
    },
    announce() {
      const message = `*3\r\n${bulk("message")}${bulk("+switch-master")}${bulk("main")}`;
      for (const socket of listening) socket.write(message);
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
