/** Between workers and Editors: cut, half open, deaf, slow, and late frames on an old connection. */
import type { Cable } from "../harness/cable.js";
import type { Random } from "../never-twice/random.js";
import { drawnPause } from "../never-twice/scenario.js";
import type { Aim, Fault } from "./fault.js";

function wireFault(
  kind: string,
  weight: number,
  draw: (cable: Cable, random: Random) => Pick<Aim, "lastsMs" | "strike" | "heal">,
): Fault {
  return {
    kind,
    group: "wire",
    weight,
    aim(world, random) {
      const editor = random.pick(world.editors);
      const number = random.whole(0, editor.cables.length - 1);
      const cable = editor.cables[number] as Cable;
      return {
        target: `cable ${number + 1} of ${editor.name}`,
        editors: [editor.name],
        ...draw(cable, random),
      };
    },
  };
}

function broken(kind: string, weight: number, how: (cable: Cable) => void): Fault {
  return wireFault(kind, weight, (cable, random) => ({
    lastsMs: random.between(50, 2500),
    strike: async () => void how(cable),
    heal: async () => cable.mend(),
  }));
}

export const wireFaults: readonly Fault[] = [
  broken("TCP cut", 5, (cable) => cable.cut()),
  broken("TCP half open", 4, (cable) => cable.hold()),
  broken("TCP one way", 3, (cable) => cable.deafen()),
  wireFault("TCP delay", 3, (cable, random) => {
    const ms = random.between(20, 400);
    return {
      lastsMs: random.between(300, 2500),
      async strike() {
        cable.delay(ms);
        return `${Math.round(ms)} ms`;
      },
      heal: async () => cable.delay(0),
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
      heal: async () => stranded?.release(),
    };
  }),
];
