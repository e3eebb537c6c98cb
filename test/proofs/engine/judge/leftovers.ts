/** What must be gone once nobody wants anything: open operations, unacknowledged outcomes, keys of no lifetime. */
import type { Redis } from "ioredis";
import type { ControlledEditor } from "../../../harness/editor/editor-control.js";
import { until } from "../../../harness/processes/processes.js";

export interface Quiet {
  hand: Redis;
  /** Those with a ledger. */
  editors: readonly Pick<ControlledEditor, "editorId" | "do">[];
  /** A store that began anew does not know what the Editors still have for the one before it. */
  storeWasLost: boolean;
}

/** By keys.ts: these stay for ever, or while an Editor is known. */
const STAYS =
  /^\{ujb\}:(schema|store-id|incarnation|swept|served|pools|editors|editor:.+|catalog:.+|troubles|mutations:.+|turns:.+|epoch:.+|tally|principal:.+)$/;
/** These run out by themselves. */
const RUNS_OUT =
  /^\{ujb\}:(chain|operation|arguments|result|live|log|duplicates|tombstone|durations|lease|lease-holder|session|sessions|login|staged|mutations-by|room-wanted|hashes):.+$|^\{ujb\}:(sweeper|clients|principals|events|(result|argument)-(room|ends)|partial-(use|bytes))$/;
/** BullMQ's own of a queue, and those of its jobs. */
const BULL =
  /^\{ujb\}:bull:[^:]+(:[^:]+)?:(meta|id|events|marker|pc|stalled-check|completed|failed|delayed)$/;
const BULL_JOB = /^\{ujb\}:bull:.+:[0-9a-f]{64}\.[0-9a-f-]{36}(:lock|:logs)?$/;

const LIMIT_MS = 60_000;

/** Resolves when nothing is open in the store or in an Editor; rejects with what does not end. */
export async function allEnded(world: Quiet): Promise<void> {
  let last = "";
  await until(
    "everything has ended",
    async () => {
      last = (await whatIsOpen(world)).join("; ");
      return last === "";
    },
    LIMIT_MS,
  ).catch(async (error: Error) => {
    const ids = new Set(last.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g));
    const records = await Promise.all([...ids].map((id) => world.hand.hget(`{ujb}:operation:${id}`, "doc")));
    const owners = await Promise.all(
      world.editors.map(async ({ editorId: id }) => {
        const [lease, owner] = [
          await world.hand.get(`{ujb}:lease:${id}`),
          await world.hand.hget(`{ujb}:editor:${id}`, "owner"),
        ];
        return `${id}: its lease is ${lease}'s, and ${owner} has heard it`;
      }),
    );
    throw new Error([`${error.message}: ${last}`, ...owners, ...records].join("\n"));
  });
}

async function whatIsOpen({ hand, editors, storeWasLost }: Quiet): Promise<string[]> {
  const open: string[] = [];
  for (const key of await hand.keys("{ujb}:*")) {
    if (!/^\{ujb\}:(open|waiting|sent|held|resource|resource-wanted):/.test(key)) continue;
    const what = key.startsWith("{ujb}:open:")
      ? await hand.zrange(key, 0, "-1")
      : /^\{ujb\}:(held|sent|resource|resource-wanted):/.test(key)
        ? await hand.hkeys(key)
        : await hand.smembers(key);
    open.push(`${key}: ${what.slice(0, 5).join(", ")}`);
  }
  for (const editor of editors) {
    const status = await editor.do({ do: "status" });
    for (const list of ["open", "unacknowledged"] as const) {
      for (const { operationId, state } of status[list] as { operationId: string; state: string }[]) {
        const isKnown = (await hand.exists(`{ujb}:operation:${operationId}`)) === 1;
        // Of a store that was emptied and began anew under another id: only the same call reaches it.
        if (!isKnown && list === "unacknowledged" && storeWasLost) continue;
        open.push(
          `${editor.editorId} ${list}: ${operationId} ${state}${isKnown ? "" : ", without a record"}`,
        );
      }
    }
  }
  return open;
}

/** Keys that nobody named, or that will never end although their lifetime is limited. */
export async function leakedKeys(hand: Redis): Promise<string[]> {
  const leaked: string[] = [];
  for (const key of await hand.keys("*")) {
    if (STAYS.test(key) || BULL.test(key) || BULL_JOB.test(key)) continue;
    if (!RUNS_OUT.test(key)) leaked.push(key);
    else if ((await hand.pttl(key)) === -1) leaked.push(`${key} without an end`);
  }
  return leaked;
}
