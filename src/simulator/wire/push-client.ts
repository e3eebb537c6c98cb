/** The Editor's push client: newline-delimited JSON to the endpoint that a worker announced. */
import { connect, type Socket } from "node:net";
import type { PushType } from "../../shared/wire/push.js";

export interface PushClient {
  /** `host:port`, or a port alone. The endpoint survives domain reloads. */
  connectTo(endpoint: string, key: string | undefined): void;
  push(type: PushType, payload?: object): void;
  /** Cuts the connection as a domain reload does; the next push connects again. */
  drop(): void;
  /** Destroys the connection: the process died. */
  cut(): void;
  close(): void;
}

export function createPushClient(deps: { now(): number }): PushClient {
  let endpoint: { host: string; port: number; key: string | undefined } | undefined;
  let socket: Socket | undefined;

  const line = (type: PushType, payload: object): string =>
    `${JSON.stringify({ type, timestamp: new Date(deps.now()).toISOString(), payload })}\n`;
  const open = (to: NonNullable<typeof endpoint>): Socket => {
    const opened = connect(to);
    // Nothing listens there any more. A push is optional: the other channel carries the same events.
    opened.on("error", () => {});
    opened.on("close", () => {
      if (socket === opened) socket = undefined;
    });
    opened.write(line("CONNECTION_ESTABLISHED", { key: to.key }));
    return opened;
  };

  return {
    connectTo(text, key) {
      const match = /^(?:\w+:\/\/)?(?:([^:/]+):)?(\d+)\/?$/.exec(text);
      if (!match) return;
      const given = { host: match[1] ?? "127.0.0.1", port: Number(match[2]), key };
      // A worker announces it in two ways.
      if (socket && given.host === endpoint?.host && given.port === endpoint.port && key === endpoint.key)
        return;
      socket?.destroy();
      endpoint = given;
      socket = open(endpoint);
    },
    push(type, payload = {}) {
      if (!endpoint) return;
      socket ??= open(endpoint);
      socket.write(line(type, payload));
    },
    drop() {
      socket?.end();
      socket = undefined;
    },
    cut() {
      endpoint = undefined;
      socket?.destroy();
      socket = undefined;
    },
    close() {
      endpoint = undefined;
      socket?.destroySoon();
      socket = undefined;
    },
  };
}
