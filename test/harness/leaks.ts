import { expect } from "vitest";

const LEAKABLE = new Set([
  "TCPSocketWrap",
  "TCPServerWrap",
  "TCPConnectWrap",
  "GetAddrInfoReqWrap",
  "Timeout",
]);
/** ms: closed handles take some turns to leave the list, and the test runner has short timers of its own. */
const GRACE = 2_000;

/** Sockets, servers and running timers of this process, sorted. */
export function openResources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => LEAKABLE.has(name))
    .sort();
}

/** Fails when more is open than `before`; call both from hooks, where the test runner's own timers are the same. */
export async function expectNoLeak(before: string[]): Promise<void> {
  const deadline = performance.now() + GRACE;
  let left = leftOver(before);
  while (left.length > 0 && performance.now() < deadline) {
    await new Promise((next) => setImmediate(next));
    left = leftOver(before);
  }
  expect(left, "sockets or timers left open").toEqual([]);
}

function leftOver(before: string[]): string[] {
  const known = [...before];
  return openResources().filter((name) => {
    const at = known.indexOf(name);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
}
