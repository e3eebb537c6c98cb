import { expect } from "vitest";
import { lookForShortTimers, timersLeft } from "./long-timers.js";

const LEAKABLE = new Set([
  "TCPSocketWrap",
  "TCPServerWrap",
  "TCPConnectWrap",
  "GetAddrInfoReqWrap",
  "Timeout",
]);
/**
 * ms: closed handles take some turns to leave the list, and the test runner and the clients have short timers of their
 * own, which fire late on a loaded machine. A real leak stays for as long as one looks.
 */
const GRACE = 60_000;

/** Fails when this process has a socket, a server or a running timer left; for the end of an afterEach. */
export async function expectNoLeak(): Promise<void> {
  const deadline = performance.now() + GRACE;
  let left = openResources();
  lookForShortTimers(true);
  while (left.length > 0 && performance.now() < deadline) {
    // Unreferenced: not one of those that are looked for.
    await new Promise((next) => setTimeout(next, 10).unref());
    left = openResources();
  }
  lookForShortTimers(false);
  expect(left, ["sockets or timers left open", ...timersLeft()].join("\n")).toEqual([]);
}

/** Unreferenced timers, such as the runner's limit for each test, are not listed by Node. */
function openResources(): string[] {
  return process.getActiveResourcesInfo().filter((name) => LEAKABLE.has(name));
}
