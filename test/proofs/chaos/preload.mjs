/**
 * Loaded into our processes before their own code (NODE_OPTIONS): the wall clock jumps by what a file says, and at
 * SIGUSR2 the process collects its garbage and writes down how much memory is left in use.
 */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** One folder for each process that the test names: `clock` (ms) is read there, `memory` is written. */
const folder = process.env.CHAOS_FOLDER;
const LOOK_MS = 50;

if (folder) {
  const RealDate = Date;
  let shiftMs = 0;
  const look = () => {
    try {
      shiftMs = Number(readFileSync(join(folder, "clock"), "utf8"));
    } catch {
      shiftMs = 0;
    }
  };
  look();
  setInterval(look, LOOK_MS).unref();
  const now = () => RealDate.now() + shiftMs;
  globalThis.Date = new Proxy(RealDate, {
    construct: (target, parts) => (parts.length === 0 ? new target(now()) : new target(...parts)),
    get: (target, name) => (name === "now" ? now : target[name]),
  });

  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    collect();
    writeFileSync(join(folder, "memory.new"), String(process.memoryUsage().heapUsed));
    renameSync(join(folder, "memory.new"), join(folder, "memory"));
  });
}
