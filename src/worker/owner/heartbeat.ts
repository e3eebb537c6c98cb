/** Records in the store that an Editor is connected, and remembers where it stands and its condition before it went away. */
import type { EditorMark, Evidence, OperationRecord } from "../../shared/operation/operation.js";
import type {
  EditorLive,
  EditorProcess,
  EditorProfile,
  LastSign,
  SignNoted,
} from "../../shared/store/editors/editors.js";
import type { Store } from "../../shared/store/store.js";
import { type LedgerCheckpoint, memoryOf } from "../../shared/wire/ledger-checkpoint.js";
import type { Heartbeat, HelloResult } from "../../shared/wire/wire.js";
import type { Imports } from "../recovery/imports.js";

export interface HeartbeatRecorder {
  introduce(hello: HelloResult): Promise<void>;
  /**
   * `outdated`: nothing was recorded, because the store may have lost something since the import (▲13); `incomplete`: it has lost
   * something that the hello had written.
   */
  heard(heartbeat: Heartbeat): Promise<"recorded" | "incomplete" | "outdated">;
  lost(): Promise<void>;
  mark(): EditorMark | undefined;
  /** The Editor's last known condition while it held the operation. */
  lastSigns(record: OperationRecord): Evidence;
  close(): void;
}

/** `owner`: its nonce. `processOf`: the process with this id, if it is on this machine. */
export function createHeartbeatRecorder(
  store: Pick<Store, "editors" | "notifier">,
  { editorId, fence: owner }: { editorId: string; fence: string },
  processOf: (pid: number) => EditorProcess | undefined,
  imports: Pick<Imports, "importedIn">,
): HeartbeatRecorder {
  let profile: EditorProfile | undefined;
  let ledger: LedgerCheckpoint | undefined;
  let isHere = false;
  /** The last heartbeat of this connection, and of the previous one. */
  let latest: LastSign | undefined;
  let before: LastSign | undefined;
  const load = createLoadReader();
  /** What the store was last told of this connection. `at`, `askedAt`: ms of this process's monotonic clock, when it was told, and asked. */
  let noted: { text: string; at: number; askedAt: number; storeAt: number } | undefined;

  /** Messages of other incarnations, which end that. */
  let messages = 0;
  /** The store may have gone back to a moment before it was told. */
  const tellAgain = (): void => {
    messages += 1;
    noted = undefined;
    if (!isHere) void tellGone().catch(() => undefined);
  };
  const stop = store.notifier.on("incarnation", tellAgain, tellAgain);
  let isClosed = false;
  let retry: NodeJS.Timeout | undefined;
  /** What the store refuses is said again, as long as it is so: nobody else would say it while this owner has the lease. */
  const tellGone = async (last?: LastSign): Promise<void> => {
    clearTimeout(retry);
    try {
      await store.editors.gone(editorId, owner, last);
    } catch (error) {
      const again = (): void => void (isHere || tellGone(last).catch(() => undefined));
      if (!isClosed) retry = setTimeout(again, SAY_AGAIN_MS).unref();
      throw error;
    }
  };

  /** Not after `lost`: a heartbeat that is still being handled would mark the Editor as connected again. */
  const alive = async (live: EditorLive): Promise<SignNoted | undefined> => {
    if (!isHere || !profile) return undefined;
    const { editorSessionId } = profile;
    const importedIn = imports.importedIn();
    const text = JSON.stringify([whatCounts(live), ledger, importedIn]);
    const [now, messagesBefore] = [performance.now(), messages];
    const isNoted = noted?.text === text && now - noted.at < TELL_AGAIN_MS;
    if (noted && isNoted && now - noted.askedAt < ASK_AGAIN_MS) {
      latest = { ...live, editorSessionId, at: noted.storeAt + Math.floor(now - noted.askedAt) };
      return undefined;
    }
    const sign = await store.editors.alive(editorId, { owner, live, ledger, importedIn, isNoted });
    if (sign.kind === "outdated") return sign;
    latest = { ...live, editorSessionId, at: sign.at };
    if (messages === messagesBefore)
      noted = { text, at: isNoted && noted ? noted.at : now, askedAt: now, storeAt: sign.at };
    return sign;
  };

  /** The previous owner may have died: then its last report still stands as if it were current. */
  const recall = async (): Promise<LastSign | undefined> => {
    const known = await store.editors.find(editorId);
    if (!known?.live) return known?.last;
    return { ...known.live, editorSessionId: known.profile.editorSessionId, at: known.lastSeenAt };
  };

  return {
    async introduce(hello) {
      before = latest ?? (await recall());
      isHere = true;
      noted = undefined;
      const { projectName, projectPath, unityVersion, pid, editorSessionId, generation, assetCounter } =
        hello;
      const process = hello.plain === true ? undefined : processOf(pid);
      profile = {
        editorId,
        projectName,
        projectPath,
        unityVersion,
        pid,
        editorSessionId,
        generation,
        assetCounter,
        ...(hello.labels === undefined ? {} : { labels: hello.labels }),
        ...(process === undefined ? {} : { process }),
        ...(hello.plain === true ? { plain: true as const } : {}),
        ...(hello.bridge === undefined ? {} : { bridge: hello.bridge }),
      };
      ledger = hello.plain === true ? undefined : memoryOf(hello);
      await store.editors.introduce(profile);
      // Connected from hello on, not from the first heartbeat a second later.
      await alive({ phase: hello.phase, mainThreadStallMs: 0, queued: hello.open.length });
    },

    async heard(heartbeat) {
      const { phase, mainThreadStallMs, queued, runningOperationId, generation, ledgerSeq } = heartbeat;
      const assetCounter = heartbeat.assetCounter ?? profile?.assetCounter ?? 0;
      if (ledger && ledgerSeq !== undefined) ledger = { ...ledger, ledgerSeq };
      if (profile && (profile.generation !== generation || profile.assetCounter !== assetCounter)) {
        profile = { ...profile, generation, assetCounter };
        await store.editors.introduce(profile);
      }
      const running = runningOperationId === undefined ? {} : { runningOperationId };
      const sign = await alive({
        phase,
        mainThreadStallMs,
        queued,
        ...running,
        ...load(heartbeat, performance.now()),
      });
      if (sign?.kind === "outdated") return "outdated";
      if (sign === undefined || sign.isWhole) return "recorded";
      if (profile) await store.editors.introduce(profile);
      return "incomplete";
    },

    async lost() {
      isHere = false;
      await tellGone(latest);
    },

    close() {
      isClosed = true;
      clearTimeout(retry);
      stop();
    },

    mark() {
      // A uLoop bridge does not report where it stands: then nothing proves that it has not changed since.
      if (!profile || profile.plain) return undefined;
      const { editorSessionId, generation, assetCounter } = profile;
      return { editorSessionId, generation, assetCounter };
    },

    lastSigns({ logId, executedAs, sentIn, dispatchedAt = 0 }) {
      // The data of the last hello is about the time after the operation was lost.
      const sign = before && before.at >= dispatchedAt ? before : latest;
      // This is a later session, and the store has lost the reports of the earlier one.
      if (!sign || (sentIn !== undefined && sign.editorSessionId !== sentIn)) return {};
      const { at, phase, mainThreadStallMs, runningOperationId } = sign;
      return {
        lastHeartbeatAt: at,
        phase,
        mainThreadStallMs,
        wasRunning: runningOperationId === (executedAs ?? logId),
      };
    },
  };
}

/** An idle Editor's sign of life is written again after this long, ms, with the memory and the processor time that it has by then … */
const TELL_AGAIN_MS = 60_000;
/** … and the store is asked whether it still has what it was told. Each new incarnation is announced, too. */
const ASK_AGAIN_MS = 20_000;
/** What the store refused is said again after this long, ms. */
const SAY_AGAIN_MS = 1_000;
/** What differs each second is told at once only if it differs by a step: a stall by a second, the processor's share by a half of one … */
const STALL_STEP_MS = 1_000;
const CPU_STEP_PERCENT = 50;
/** … and memory by a fifth. */
const MEMORY_STEPS_OF_A_DOUBLING = 4;

function whatCounts({ memoryBytes, cpuPercent, mainThreadStallMs, ...others }: EditorLive): unknown {
  return [
    others,
    Math.floor(mainThreadStallMs / STALL_STEP_MS),
    cpuPercent === undefined ? undefined : Math.round(cpuPercent / CPU_STEP_PERCENT),
    memoryBytes === undefined ? undefined : Math.round(Math.log2(memoryBytes) * MEMORY_STEPS_OF_A_DOUBLING),
  ];
}

/** A shorter time between two heartbeats says little about the processor, ms. */
const LEAST_MS = 200;

/** What the Editor's process uses. `at`: when the heartbeat came, ms on a clock that only goes forward. */
export function createLoadReader(): (
  heartbeat: Pick<Heartbeat, "editorSessionId" | "memory" | "cpu">,
  at: number,
) => Pick<EditorLive, "memoryBytes" | "cpuPercent"> {
  let last: { session: string; cpu: number; at: number } | undefined;
  let percent: number | undefined;
  return ({ editorSessionId: session, memory, cpu }, at) => {
    if (cpu === undefined || last?.session !== session || cpu < last.cpu) percent = undefined;
    else if (at - last.at >= LEAST_MS) percent = Math.round((100 * (cpu - last.cpu)) / (at - last.at));
    if (cpu === undefined) last = undefined;
    else if (last?.session !== session || cpu < last.cpu || at - last.at >= LEAST_MS)
      last = { session, cpu, at };
    return {
      ...(memory === undefined ? {} : { memoryBytes: Math.round(memory) }),
      ...(percent === undefined ? {} : { cpuPercent: percent }),
    };
  };
}
