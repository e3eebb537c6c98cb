/** Assembles the worker: an owner for every Editor found on this machine. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import { DIAGNOSIS_LIMITS } from "../shared/editors/diagnosis.js";
import type { Log } from "../shared/log.js";
import type { NamedEditor } from "../shared/setting-values.js";
import { HELD_RETRY_MS } from "../shared/store/operations/principal-limits.js";
import type { Store } from "../shared/store/store.js";
import { TOOL_LIMITS } from "../shared/tools/tool-limits.js";
import { createStatusFiles } from "./bridges/unity-mcp/status-files.js";
import { createConfiguredEditors } from "./discovery/configured-editors.js";
import { createDiscovery, type DiscoveredEditor } from "./discovery/discovery.js";
import { createLostEditors, type LostEditorsOptions } from "./discovery/lost-editors.js";
import { createRefusedFiles } from "./discovery/refused-files.js";
import { MAX_RESULT_BYTES } from "./execution/large-result.js";
import { unityLogPlaces } from "./owner/evidence/log-places.js";
import type { DescribedEditor } from "./owner/health-monitor.js";
import { createOwner, type Owner, type OwnerOptions } from "./owner/owner.js";

export interface WorkerOptions extends OwnerOptions, LostEditorsOptions {
  /** How often to look for Editors where the system does not report changes, ms. */
  discoveryPollMs: number;
}

export const WORKER_DEFAULTS: WorkerOptions = {
  lease: { ttlMs: 20_000, renewMs: 6_667 },
  jobLockMs: 30_000,
  stalledCheckMs: 30_000,
  idleLookMs: 30_000,
  heldRetryMs: HELD_RETRY_MS,
  closeMs: 5_000,
  ackDelayMs: 2_000,
  retryMs: 200,
  cancelAgainMs: 2_000,
  lostEditorsMs: 5_000,
  link: {},
  tools: TOOL_LIMITS,
  maxResultBytes: MAX_RESULT_BYTES,
  logPlaces: unityLogPlaces(),
  clientsRestMs: 1_000,
  healthCheckMs: 1_000,
  reportAgainMs: 5_000,
  diagnosis: DIAGNOSIS_LIMITS,
  discoveryPollMs: 1_000,
};

export interface Worker {
  /** Gives all work back; sent operations go on in the Editors, and the next worker collects them. */
  close(): Promise<void>;
}

export function createWorker(
  deps: {
    store: Store;
    log: Log;
    editorsFolder: string;
    version: string;
    /** Signs what it submits, to recognise it later: the same for all workers of a store, and never in the store (recovery-key.ts). */
    originKey: Buffer;
    /** Editors that are named because they cannot be discovered. */
    named?: readonly NamedEditor[];
    /** Where MCP for Unity's bridges write their status files; undefined: Editors with it are not driven. */
    unityMcpFolder?: string | undefined;
  },
  given: Partial<WorkerOptions> = {},
): Worker {
  const options = { ...WORKER_DEFAULTS, ...given };
  const { store, log } = deps;
  const workerId = randomUUID();
  const brokerId = `process ${process.pid} on ${hostname()}`;
  const identity = { storeId: store.storeId, brokerId, workerId, version: deps.version };
  const owners = new Map<string, Owner>();
  const leaving = new Set<Promise<void>>();

  const sentFolder = join(deps.editorsFolder, "sent");

  const serve = ({ editorId, host, port, token, listensOn, plain }: DiscoveredEditor): void => {
    if (editorId === undefined) return;
    const endpoint = { host, port, token, listensOn, editorId };
    const described = () => describedAmong(discovery.editors(), editorId);
    const known = owners.get(editorId);
    if (known) known.moveTo(endpoint);
    else {
      const editor = { editorId, endpoint, plain, described, sentFolder };
      owners.set(
        editorId,
        createOwner({ store, log, identity, originKey: deps.originKey, ...editor }, options),
      );
    }
  };

  const leave = ({ editorId }: DiscoveredEditor): void => {
    const owner = editorId === undefined ? undefined : owners.get(editorId);
    if (!owner || editorId === undefined) return;
    owners.delete(editorId);
    const left = owner.close().finally(() => leaving.delete(left));
    leaving.add(left);
  };

  const change = (editor: DiscoveredEditor, before: DiscoveredEditor): void => {
    // Its project installed or removed a bridge: a new owner drives it the other way.
    if (editor.plain?.bridge !== before.plain?.bridge) leave(before);
    serve(editor);
  };

  const refusedFiles = createRefusedFiles({ store, log }, options);
  const { named = [], unityMcpFolder } = deps;
  const discovery = createDiscovery(
    {
      folder: deps.editorsFolder,
      explicit: [],
      ...(named.length > 0 ? { configured: createConfiguredEditors(named, log) } : {}),
      foreign: unityMcpFolder === undefined ? undefined : createStatusFiles({ folder: unityMcpFolder, log }),
      log,
      options: { pollMs: options.discoveryPollMs },
    },
    { onFound: serve, onChanged: change, onLost: leave, onRefused: refusedFiles.are },
  );

  const lostEditors = createLostEditors({ store, log }, options);

  return {
    async close() {
      await lostEditors.close();
      await discovery.close();
      await refusedFiles.close();
      await Promise.allSettled([...[...owners.values()].map((owner) => owner.close()), ...leaving]);
    },
  };
}

function describedAmong(editors: DiscoveredEditor[], editorId: string): DescribedEditor | undefined {
  const own = editors.find((editor) => editor.editorId === editorId);
  const rival = editors.find(
    (other) => other !== own && other.port === own?.port && other.host === own.host && other.editorId,
  );
  return own && { ...own, sharesWith: rival?.editorId };
}
