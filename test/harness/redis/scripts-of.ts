/** The scripts that Redis runs while something goes on, by whichever process, as MONITOR tells them. */
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { Redis } from "ioredis";
import { keys } from "../../../src/shared/store/keys.js";

/** Each with its arguments. */
export interface Scripts {
  /** That create or end an operation. */
  writes: string[][];
  /** That only claim one. */
  claims: string[][];
  /** That change an operation otherwise, such as the note of its delivery. */
  amendments: string[][];
  /** That end a job without its operation, as BullMQ's worker does. */
  bullmq: string[][];
}

export async function scriptsOf(hand: Redis, act: () => Promise<unknown>): Promise<Scripts> {
  const commands = await commandsOf(hand, act);
  const scripts = commands.filter(([name = ""]) => /^eval(sha)?$/i.test(name));
  const writes = scripts.filter((command) => hasKey(command, keys.tombstone("")));
  const claims = scripts.filter((command) => command.some((part) => part.includes('"session":')));
  // What takes longer than a moment is marked as running: a matter of the machine.
  const starts = scripts.filter((command) => command.at(-1)?.startsWith('{"state":"running"'));
  const isKnown = new Set([...writes, ...claims, ...starts]);
  return {
    writes,
    claims,
    amendments: scripts.filter((command) => hasKey(command, keys.operation("")) && !isKnown.has(command)),
    bullmq: scripts.filter((command) => command.some((part) => part.endsWith(":completed"))),
  };
}

const hasKey = (command: string[], prefix: string): boolean =>
  command.some((part) => part.startsWith(prefix));

/**
 * On a connection of its own: that of ioredis 6.0 fails where a command of another process is told in the same packet as the
 * answer to MONITOR.
 */
async function commandsOf(hand: Redis, act: () => Promise<unknown>): Promise<string[][]> {
  const { path, host = "127.0.0.1", port = 6379 } = hand.options;
  const socket = connect(path === undefined ? { host, port } : { path });
  const lines = createInterface({ input: socket });
  const commands: string[][] = [];
  lines.on("line", (line) => {
    // What a script does is part of it.
    if (!/^\+[\d.]+ \[\d+ lua\]/.test(line)) commands.push(argumentsIn(line));
  });
  try {
    const isSeen = (marker: string): Promise<void> =>
      new Promise((resolve) => lines.on("line", (line) => line.includes(marker) && resolve()));
    await once(socket, "connect");
    const begun = isSeen("+OK");
    socket.write("MONITOR\r\n");
    await begun;
    await act();
    // It has seen everything once it sees this.
    const marker = `seen ${Math.random()}`;
    const ended = isSeen(marker);
    await hand.echo(marker);
    await ended;
    return commands;
  } finally {
    lines.close();
    socket.destroy();
  }
}

/** Redis quotes each argument; quotes and backslashes in it are escaped, and bytes that no terminal shows. */
function argumentsIn(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text = ""]) =>
    text.replaceAll(/\\(["\\])/g, "$1"),
  );
}
