import { expect } from "vitest";

const LEAKABLE = new Set([
  "TCPSocketWrap",
  "TCPServerWrap",
  "TCPConnectWrap",
  "GetAddrInfoReqWrap",
  "Timeout",
]);
/** Turns of the event loop after which a closed handle must have left the list. */
const TURNS = 20;

/** Sockets, servers and running timers of this process, sorted. */
export function openResources(): string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => LEAKABLE.has(name))
    .sort();
}

/** Fails when more is open than `before`; call both from hooks, where the test runner's own timers are the same. */
export async function expectNoLeak(before: string[]): Promise<void> {
  let left = leftOver(before);
  for (let turn = 0; turn < TURNS && left.length > 0; turn++) {
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
