/** Ending a broker that may be ending by itself. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { signal } from "../../../src/cli/pipe/reach-broker.js";

test("a broker that has just died needs no signal", async () => {
  const child = spawn(process.execPath, ["--eval", ""]);
  await once(child, "exit");
  expect(() => signal({ pid: child.pid as number, socket: "", version: "1.0.0" }, "SIGTERM")).not.toThrow();
});
