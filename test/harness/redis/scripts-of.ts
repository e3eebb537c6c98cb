/** The scripts that Redis runs while something goes on, by whichever process, as MONITOR tells them. */
import type { Redis } from "ioredis";
import { keys } from "../../../src/shared/store/keys.js";

/** Each with its arguments. */
export interface Scripts {
  /** That create or end an operation, or change one that has not ended. */
  writes: string[][];
  /** That only claim one. */
  claims: string[][];
  /** That end a job without its operation, as BullMQ's worker does. */
  bullmq: string[][];
}

export async function scriptsOf(hand: Redis, act: () => Promise<unknown>): Promise<Scripts> {
  const monitor = await hand.monitor();
  const seen: string[][] = [];
  monitor.on("monitor", (_time: string, command: string[], source: string) => {
    // What a script does is part of it.
    if (source !== "lua") seen.push(command);
  });
  await act();
  // It has seen everything once it sees this.
  const marker = `seen ${Math.random()}`;
  const isSeen = new Promise<void>((resolve) => {
    monitor.on("monitor", (_time: string, command: string[]) => {
      if (command.includes(marker)) resolve();
    });
  });
  await hand.echo(marker);
  await isSeen;
  monitor.disconnect();
  const scripts = seen.filter(([name = ""]) => /^eval(sha)?$/i.test(name));
  return {
    writes: scripts.filter((command) => command.some((part) => part.startsWith(keys.arguments("")))),
    claims: scripts.filter((command) => command.at(-1)?.startsWith('{"state":"dispatched"')),
    bullmq: scripts.filter((command) => command.some((part) => part.endsWith(":completed"))),
  };
}
