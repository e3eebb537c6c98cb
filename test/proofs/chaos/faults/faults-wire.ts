/**
 * Between workers and Editors: cut, half open, deaf, slow, and late frames on an old connection. Between callers and gateways:
 * every stream through a proxy breaks at once, with the answers that are in it.
 */
import type { Cable } from "../../../harness/system/cable.js";
import { drawnPause, type Random } from "../../engine/random.js";
import { type Blow, type Fault, fault } from "./fault.js";

function wireFault(kind: string, weight: number, draw: (cable: Cable, random: Random) => Blow): Fault {
  return fault(
    [kind, "wire", weight],
    (world, random) => {
      const { name, cables } = random.pick(world.editors);
      const number = random.whole(0, cables.length - 1);
      return { it: cables[number] as Cable, target: `cable ${number + 1} of ${name}`, editors: [name] };
    },
    draw,
  );
}

function broken(kind: string, weight: number, how: (cable: Cable) => void): Fault {
  return wireFault(kind, weight, (cable, random) => ({
    lastsMs: random.between(50, 2500),
    strike: () => how(cable),
    heal: cable.fix,
  }));
}

const brokenStreams: Fault = fault(
  ["streams break", "wire", 5],
  (world, random) => {
    const number = random.whole(0, world.proxies.length - 1);
    const it = world.proxies[number];
    return it && { it, target: `proxy ${number + 1}`, editors: [] };
  },
  (proxy, random) => ({
    lastsMs: random.between(20, 500),
    strike() {
      proxy.hold();
      setTimeout(proxy.cut, random.between(0, 20));
    },
    heal: proxy.fix,
  }),
);

export const wireFaults: readonly Fault[] = [
  brokenStreams,
  broken("TCP cut", 5, (cable) => cable.cut()),
  broken("TCP half open", 4, (cable) => cable.hold()),
  broken("TCP one way", 3, (cable) => cable.deafen()),
  wireFault("TCP delay", 3, (cable, random) => {
    const ms = random.between(20, 400);
    return {
      lastsMs: random.between(300, 2500),
      strike() {
        cable.delay(ms);
        return `${Math.round(ms)} ms`;
      },
      heal: () => cable.delay(0),
    };
  }),
  wireFault("late frames after a reconnect", 5, (cable, random) => {
    const keepsMs = random.between(50, 1200);
    let stranded: ReturnType<Cable["strand"]> | undefined;
    return {
      lastsMs: random.between(100, 1500),
      async strike() {
        stranded = cable.strand();
        await drawnPause(keepsMs);
        stranded.cut();
        return `kept for ${Math.round(keepsMs)} ms`;
      },
      heal: () => stranded?.release(),
    };
  }),
];
