/** A client of the WebSocket of the REST API; what a test opens is ended behind it. */
import { once } from "node:events";
import { afterEach } from "vitest";
import { WebSocket } from "ws";
import { eventually } from "../eventually.js";

// biome-ignore lint/suspicious/noExplicitAny: whatever the server says; the tests compare it.
export type Heard = any;

export interface SocketClient {
  socket: WebSocket;
  /** So far. */
  heard: Heard[];
  /** Undefined if it has not come when the connection ends. */
  next(is: (message: Heard) => boolean, what: string): Promise<Heard>;
  say(message: unknown): void;
  /** The answer to the message with this id. */
  answer(id: unknown): Promise<Heard>;
  event(event: string, is?: (message: Heard) => boolean): Promise<Heard>;
}

/** Call it at the top of a test file. */
export function useSocketClients(): {
  connect(origin: string, headers?: Record<string, string>, path?: string): Promise<SocketClient>;
} {
  const sockets: WebSocket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.terminate();
  });

  return {
    async connect(origin, headers = {}, path = "/ws") {
      const socket = new WebSocket(`${origin.replace("http", "ws")}/api/v1${path}`, { headers });
      sockets.push(socket);
      const heard: Heard[] = [];
      socket.on("message", (data) => heard.push(JSON.parse(String(data))));
      await once(socket, "open");
      const next: SocketClient["next"] = async (is, what) => {
        // What was not heard before the end is not heard any more: nobody may be left waiting for it.
        await eventually(() => heard.some(is) || socket.readyState === WebSocket.CLOSED, what);
        return heard.find(is);
      };
      return {
        socket,
        heard,
        next,
        say: (message) => socket.send(typeof message === "string" ? message : JSON.stringify(message)),
        answer: (id) => next((message) => message.type === "answer" && message.id === id, `answer ${id}`),
        event: (event, is = () => true) => next((message) => message.event === event && is(message), event),
      };
    },
  };
}
