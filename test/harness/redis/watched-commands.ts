/** What a Redis is asked, by whichever process. ioredis's own monitor fails where its first commands come together with its OK. */
import { once } from "node:events";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import type { Redis } from "ioredis";

/** The commands while `act` goes on, in their order; what a script does is part of the script, and not among them. */
export async function commandsDuring(hand: Redis, act: () => Promise<unknown>): Promise<string[][]> {
  const { path = "" } = hand.options;
  const socket = connect({ path });
  const lines = createInterface({ input: socket });
  const seen: string[][] = [];
  const isReady = once(lines, "line");
  socket.write("MONITOR\r\n");
  await isReady;
  // It has seen everything once it sees this.
  const marker = `seen ${Math.random()}`;
  const isSeen = new Promise<void>((resolve) => {
    lines.on("line", (line) => {
      const [, source, words = ""] = /^\+[\d.]+ \[\d+ (\S+)\] (.*)$/.exec(line) ?? [];
      if (source !== "lua") seen.push(wordsOf(words));
      if (line.includes(marker)) resolve();
    });
  });
  await act();
  await hand.echo(marker);
  await isSeen;
  socket.destroy();
  return seen;
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) => word.replaceAll('\\"', '"'));
}
