/** A gateway or worker process of a chaos run: its way to Redis, its clock and its memory. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Member } from "../../harness/processes/installation.js";
import { until } from "../../harness/processes/processes.js";

export interface ChaosMember extends Member {
  readonly name: string;
  /** It is hung, cut off and given another clock, but never killed: its memory is looked at. */
  readonly isLongLived: boolean;
  /** Its wall clock is so much off from now on, ms. */
  shiftClock(ms: number): void;
  /** What is left in use after a garbage collection, bytes. */
  memory(): Promise<number>;
  /** Open sockets, as the system counts them; undefined where it does not say. */
  sockets(): number | undefined;
}

const PRELOAD = new URL("./preload.mjs", import.meta.url);

/** `lay` makes the member itself, with an environment that has it look at a folder of its own. */
export async function layMember<M extends Member>(
  place: string,
  name: string,
  isLongLived: boolean,
  lay: (name: string, env: NodeJS.ProcessEnv) => Promise<M>,
): Promise<M & ChaosMember> {
  const folder = join(place, name);
  mkdirSync(folder, { recursive: true });
  const member = await lay(name, { CHAOS_FOLDER: folder, NODE_OPTIONS: `--import=${PRELOAD.href}` });
  return Object.assign(member, {
    name,
    isLongLived,
    shiftClock: (ms: number) => writeFileSync(join(folder, "clock"), String(Math.round(ms))),
    async memory() {
      const file = join(folder, "memory");
      rmSync(file, { force: true });
      member.process.signal("SIGUSR2");
      await until(`${name} tells its memory`, () => existsSync(file));
      return Number(readFileSync(file, "utf8"));
    },
    sockets: () => socketsOf(member.process.pid),
  });
}

function socketsOf(pid: number): number | undefined {
  const folder = `/proc/${pid}/fd`;
  if (!existsSync(folder)) return undefined;
  return readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).startsWith("socket:");
    } catch {
      // Closed since the folder was read.
      return false;
    }
  }).length;
}
