/**
 * Pool queues only match (▲13): while an owner's Editor is idle, it takes one operation from the pools that the Editor is in. From
 * then on the operation is the Editor's like any other: the lane claims and sends it. Nothing is sent from here.
 */
import { isMember, labelsOf } from "../../shared/editors/target.js";
import type { Log } from "../../shared/log.js";
import { isWaiting, jobIdOf, type OperationRecord } from "../../shared/operation/operation.js";
import type { PoolJob } from "../../shared/store/editors/pools.js";
import type { Store } from "../../shared/store/store.js";
import type { Tool } from "../../shared/tools/tool.js";
import type { HelloResult } from "../../shared/wire/wire.js";

// An operation that names a build target waits in its pool for an Editor that has this target active: any other would have to
// import the project's assets again. It goes to any Editor if no connected one of the pool fits.

/** Whether this Editor leaves the operation, which is in its pool, to others. `labels`: its own. */
async function isForOthers(
  { operations, editors, queues }: Pick<Store, "operations" | "editors" | "queues">,
  { logId, editor: pool, lane }: OperationRecord,
  tool: Tool,
  labels: readonly string[],
): Promise<boolean> {
  const parameter = targetParameterOf(tool);
  if (parameter === undefined) return false;
  const target = (await operations.argumentsOf(logId))?.[parameter];
  if (typeof target !== "string") return false;
  const label = `platform=${target.toLowerCase()}`;
  if (labels.includes(label)) return false;
  const fitting = (await editors.all()).filter(({ profile, connected }) => {
    const theirs = labelsOf(profile);
    return connected && theirs.includes(label) && isMember(pool, theirs);
  });
  for (const { profile } of fitting) {
    const theirs = (await editors.tools(profile.editorId)).find(({ name }) => name === tool.name);
    const has = theirs?.effect === tool.effect && theirs.lane === tool.lane;
    if (has && !(await queues.isPaused(profile.editorId, lane))) return true;
  }
  return false;
}

/** The parameter of a tool that names Unity's build target, as build-player has it; undefined: it has none. */
function targetParameterOf({ inputSchema }: Tool): string | undefined {
  return Object.keys(inputSchema.properties ?? {}).find(
    (name) => name.replaceAll("_", "").toLowerCase() === "buildtarget",
  );
}

export interface PoolTaker {
  /** The Editor is idle, or has just connected: something may be there for it. */
  look(): void;
  close(): Promise<void>;
}

/** The pools are listed and looked into again after this time, in case a message was lost, ms. */
const LISTED_MS = 5_000;

/** How many operations of each pool are looked at together, and at most: the first may be for tools that this Editor does not have. */
const LOOKED_AT = 20;
const MOST_LOOKED_AT = 2_000;

export function createPoolTaker(deps: {
  store: Pick<Store, "operations" | "editors" | "pools" | "queues" | "notifier">;
  log: Log;
  editorId: string;
  /** The fence (▲11) of its owner. */
  fence: string;
  imports: { importedIn(): string };
  /** Undefined while it is not connected. */
  hello(): HelloResult | undefined;
}): PoolTaker {
  const { store, log, editorId, fence } = deps;
  const { operations } = store;
  let isClosed = false;
  let isDue = false;
  let looking: Promise<void> = Promise.resolve();
  const listed = new Set<string>();
  let listedAt = Number.NEGATIVE_INFINITY;

  /** The pools that it is in. Nothing is asked of the store for most calls. */
  const pools = async (labels: readonly string[]): Promise<string[]> => {
    if (performance.now() - listedAt > LISTED_MS) {
      listedAt = performance.now();
      for (const pool of await store.pools.ids()) listed.add(pool);
    }
    return [...listed].filter((pool) => isMember(pool, labels));
  };

  /**
   * The operations that are next in a pool: of the first jobs among which this Editor may run any. A job without such an
   * operation (it has left the pool, or the job was added manually) is removed: nobody else takes jobs from this queue.
   */
  const nextIn = async (
    pool: string,
    labels: readonly string[],
    tools: ReadonlyMap<string, Tool>,
  ): Promise<OperationRecord[]> => {
    for (let from = 0; from < MOST_LOOKED_AT; from += LOOKED_AT) {
      const jobs = await store.pools.next(pool, from, LOOKED_AT);
      if (jobs.length === 0) break;
      const records = await recordsOf(pool, jobs);
      const areFit = await Promise.all(
        records.map((record) => isFit(record, tools.get(record.tool), labels)),
      );
      const found = records.filter((_, at) => areFit[at]);
      if (found.length > 0) return found;
    }
    return [];
  };

  const isFit = async (
    record: OperationRecord,
    tool: Tool | undefined,
    labels: readonly string[],
  ): Promise<boolean> =>
    tool !== undefined && isSameTool(record, tool) && !(await isForOthers(store, record, tool, labels));

  const recordsOf = async (pool: string, jobs: readonly PoolJob[]): Promise<OperationRecord[]> => {
    const found = await Promise.all(
      jobs.map(async ({ id, lane, logId }) => {
        const record = await operations.find(logId);
        if (record?.editor === pool && jobIdOf(record) === id && isWaiting(record.state)) return record;
        await store.queues.drop(pool, lane, id);
        return undefined;
      }),
    );
    return found.filter((record) => record !== undefined);
  };

  /** The next ones of these pools; of those that stand equally far in their queues, the one that was accepted first. */
  const next = async (ids: readonly string[], labels: readonly string[]): Promise<OperationRecord[]> => {
    const known = await store.editors.tools(editorId);
    const tools = new Map(known.map((tool) => [tool.name, tool]));
    const queues = await Promise.all(ids.map((pool) => nextIn(pool, labels, tools)));
    return queues
      .flatMap((records) => records.map((record, rank) => ({ record, rank })))
      .toSorted((a, b) => a.rank - b.rank || a.record.acceptedAt - b.record.acceptedAt)
      .map(({ record }) => record);
  };

  const take = async (): Promise<void> => {
    const hello = deps.hello();
    const labels = hello ? labelsOf(hello) : [];
    const ids = hello ? await pools(labels) : [];
    if (ids.length === 0) return;
    // While it is paused it takes nothing, and while a pool is, nothing from there.
    const paused = await Promise.all([editorId, ...ids].map((each) => store.queues.isPaused(each)));
    const open = paused[0] ? [] : ids.filter((_, at) => !paused[at + 1]);
    const incarnation = deps.imports.importedIn();
    /** Whose next operation waits for a place; and whether one waits for a resource. */
    const held = new Set<string>();
    let isShort = false;
    for (const { logId, principal } of await next(open, labels)) {
      const standsInLine = !isShort && !held.has(principal);
      const taken = await operations.move(
        logId,
        (record) => (mayBeTaken(record, open, incarnation) ? editorId : undefined),
        { fence, incarnation, whenIdle: true, standsInLine },
      );
      if (taken === "held") held.add(principal);
      else if (taken === "short") isShort = true;
      // One at a time: the next one when this one has ended.
      else if (taken !== "stays") return;
    }
  };

  const look = (): void => {
    // The look that is to begin sees this as well.
    if (isDue || isClosed) return;
    isDue = true;
    looking = looking
      .then(() => {
        isDue = false;
        return isClosed ? undefined : take();
      })
      .catch((error: unknown) =>
        log.warn({ error: (error as Error).message }, "could not look into the pools"),
      );
  };

  const stop = store.notifier.on(
    "pools",
    (pool) => {
      listed.add(pool);
      look();
    },
    () => {
      listedAt = Number.NEGATIVE_INFINITY;
      look();
    },
  );

  const looks = setInterval(look, LISTED_MS);

  return {
    look,
    async close() {
      isClosed = true;
      clearInterval(looks);
      stop();
      await looking;
    },
  };
}

/** What the gateway assumed of the tool: who may call it, and when its outcome answers again, was decided by that. */
function isSameTool({ effect, lane }: OperationRecord, tool: Tool): boolean {
  return tool.effect === effect && tool.lane === lane;
}

/** Store incarnation (▲13): one that was accepted before a loss waits until the pool is opened again (gateway/editors/pool-keeper.ts). */
export function mayBeTaken(record: OperationRecord, pools: readonly string[], incarnation: string): boolean {
  return isWaiting(record.state) && pools.includes(record.editor) && record.incarnation === incarnation;
}
