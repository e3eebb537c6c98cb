/** One mutation put to the test: its schedule in a copy with the rule taken out, and without. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { makeCopy, PROJECT } from "./copy.js";
import { type Aim, aimOf, type Mutation } from "./mutations.js";
import { runTest } from "./test-run.js";
import type { Verdict } from "./verdict.js";

export interface Played {
  verdict?: Verdict;
  /** Why there is no verdict: the schedule itself failed. */
  error?: string;
  seconds: number;
}

export interface Trial {
  /** With the first seed that was red, else the last. */
  broken: Played;
  /** Green on every seed, or the first that was not. */
  whole: Played;
  /** What is wrong with the mutation or with the rule; undefined: red with the patch, green without. */
  fault: string | undefined;
}

/** With a schedule's own limit, the start of a world and its end. */
const LIMIT_MS = 160_000;
/** What a mutation may take, on a machine with nothing else to do. */
export const GOAL_SECONDS = 60;

type Play = Pick<Mutation, "aim" | "seeds">;

/** The schedule in a copy with these patches, seed by seed until one is red. */
export async function playWith(patches: readonly string[], play: Play): Promise<Played> {
  const copy = patches.length === 0 ? undefined : makeCopy(patches);
  try {
    let played: Played = { seconds: 0 };
    for (const seed of play.seeds) {
      const before = played.seconds;
      played = await playOnce(copy?.folder ?? PROJECT, play.aim, seed);
      played.seconds += before;
      if (!played.verdict || played.verdict.isBroken) break;
    }
    return played;
  } finally {
    copy?.remove();
  }
}

/** Red with the patch by the words that were expected, green without it. `known`: what was played without it before. */
export async function tryMutation(
  mutation: Mutation,
  known?: (beneath: readonly string[], play: Play) => Promise<Played>,
): Promise<Trial> {
  const broken = await playWith([...mutation.beneath, mutation.patch], mutation);
  const whole = await (known ?? playWith)(mutation.beneath, mutation);
  return { broken, whole, fault: faultOf(mutation, broken, whole) };
}

function faultOf(mutation: Mutation, broken: Played, whole: Played): string | undefined {
  const { patch, says } = mutation;
  const schedule = aimOf(mutation);
  if (!whole.verdict) return `${schedule}: no verdict without the patch: ${whole.error}`;
  if (whole.verdict.isBroken) return `${schedule}: red without the patch: ${whole.verdict.text}`;
  if (!broken.verdict) return `${patch}: no verdict: ${broken.error}`;
  if (!broken.verdict.isBroken) return `${patch}: nothing went red: ${broken.verdict.text}`;
  if (!says.test(broken.verdict.text)) return `${patch}: red, but not as expected: ${broken.verdict.text}`;
  return undefined;
}

/** In a process of the copy's own, so that every part of it is the copy's. */
async function playOnce(folder: string, aim: Aim, seed: number): Promise<Played> {
  const startedAt = performance.now();
  if ("test" in aim) {
    const verdict = await runTest(folder, aim);
    return { ...verdict, seconds: (performance.now() - startedAt) / 1000 };
  }
  const { schedule } = aim;
  const args = ["--schedule", schedule, "--seed", String(seed)];
  const child = spawn(
    process.execPath,
    ["--import", "tsx", join(folder, "test", "proofs", "mutations", "play.ts"), ...args],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
  );
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const late = setTimeout(() => child.kill("SIGKILL"), LIMIT_MS);
  await once(child, "close");
  clearTimeout(late);
  const seconds = (performance.now() - startedAt) / 1000;
  const line = stdout.split("\n").find((text) => text.startsWith('{"judge"'));
  return line ? { verdict: JSON.parse(line) as Verdict, seconds } : { error: stderr.slice(0, 2000), seconds };
}
