/** Writes to the store that an Editor is there, and remembers where it stands and how it was before it went away. */
import type { EditorMark, Evidence, OperationRecord } from "../../shared/operation/operation.js";
import type {
  EditorLive,
  EditorProcess,
  EditorProfile,
  LastSign,
} from "../../shared/store/editors/editors.js";
import type { Store } from "../../shared/store/store.js";
import { type LedgerCheckpoint, memoryOf } from "../../shared/wire/ledger-checkpoint.js";
import type { Heartbeat, HelloResult } from "../../shared/wire/wire.js";

export interface HeartbeatRecorder {
  introduce(hello: HelloResult): Promise<void>;
  heard(heartbeat: Heartbeat): Promise<void>;
  lost(): Promise<void>;
  mark(): EditorMark | undefined;
  /** How the Editor was when it was last heard of while the operation was there, as far as it is known. */
  lastSigns(record: OperationRecord): Evidence;
}

/** `processOf`: the process with this id, where it is one of this machine's. */
export function createHeartbeatRecorder(
  store: Store,
  editorId: string,
  processOf: (pid: number) => EditorProcess | undefined,
): HeartbeatRecorder {
  let profile: EditorProfile | undefined;
  let ledger: LedgerCheckpoint | undefined;
  let isHere = false;
  /** The last heartbeat of this connection, and that of the one before. */
  let latest: LastSign | undefined;
  let before: LastSign | undefined;

  /** Not after `lost`: a heartbeat that was still being handled then would bring the Editor back. */
  const alive = async (live: EditorLive): Promise<void> => {
    const now = await store.operations.now();
    if (profile) latest = { ...live, editorSessionId: profile.editorSessionId, at: now };
    if (isHere) await store.editors.alive(editorId, live, now, ledger);
  };

  /** The owner before may have died without a word: then what it wrote last still stands as if it were so. */
  const recall = async (): Promise<LastSign | undefined> => {
    const known = await store.editors.find(editorId);
    if (!known?.live) return known?.last;
    return { ...known.live, editorSessionId: known.profile.editorSessionId, at: known.lastSeenAt };
  };

  return {
    async introduce(hello) {
      before = latest ?? (await recall());
      isHere = true;
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
        ...(process === undefined ? {} : { process }),
        ...(hello.plain === true ? { plain: true as const } : {}),
      };
      ledger = hello.plain === true ? undefined : memoryOf(hello);
      await store.editors.introduce(profile);
      // Present from hello on, not from the first heartbeat a second later.
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
      await alive({ phase, mainThreadStallMs, queued, ...running });
    },

    async lost() {
      isHere = false;
      await store.editors.gone(editorId, latest);
    },

    mark() {
      // A uLoop bridge does not report where it stands: then nobody says that it has not changed since.
      if (!profile || profile.plain) return undefined;
      const { editorSessionId, generation, assetCounter } = profile;
      return { editorSessionId, generation, assetCounter };
    },

    lastSigns({ logId, executedAs, sentIn, dispatchedAt = 0 }) {
      // What came with the last hello is about the time after the operation was lost.
      const sign = before && before.at >= dispatchedAt ? before : latest;
      // A later session, in a store that has lost what the earlier one said, knows nothing of it.
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
