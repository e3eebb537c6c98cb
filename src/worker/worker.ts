/** Assembles the worker: an owner for every Editor found on this machine. */
import { randomUUID } from "node:crypto";
import { realpath } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import { DIAGNOSIS_LIMITS } from "../shared/editors/diagnosis.js";
import { editorIdOf } from "../shared/editors/target.js";
import { thisMachine } from "../shared/machine/this-machine.js";
import type { NamedEditor } from "../shared/setting-values.js";
import { HELD_RETRY_MS } from "../shared/store/operations/limits.js";
import type { Store } from "../shared/store/store.js";
import type { Log } from "../shared/telemetry.js";
import { TOOL_LIMITS } from "../shared/tools/call-rules.js";
import { createConfiguredEditors } from "./discovery/configured-editors.js";
import {
  createDiscovery,
  createRefusedFiles,
  type DiscoveredEditor,
  type PlainEndpoint,
  type PlainEndpoints,
} from "./discovery/discovery.js";
import { createLostEditors, type LostEditorsOptions } from "./discovery/lost-editors.js";
import { createTrustedFolder, type TrustedFile } from "./discovery/trusted-folder.js";
import { MAX_RESULT_BYTES } from "./execution/outcome.js";
import type { DescribedEditor } from "./owner/heartbeat.js";
import { unityLogPlaces } from "./owner/log-places.js";
import { createOwner, type Owner, type OwnerOptions } from "./owner/owner.js";

// Editors with MCP for Unity, found by the status files that its bridge writes (docs/reference/bridges.md). They hold no
// process id: an Editor that crashed leaves its file behind.

const Status = z.looseObject({
  unity_port: z.int().min(1).max(65_535),
  reloading: z.boolean().default(false),
  /** The project's Assets folder. */
  project_path: z
    .string()
    .max(32_767)
    .regex(/^([a-zA-Z]:)?[\\/].*[\\/]Assets[\\/]?$/),
});
type Status = z.infer<typeof Status>;

const NAME = /^unity-mcp-status-\w{1,64}\.json$/;

/** The bridge writes its file twice a second while Unity's main thread runs: this is left over from a crash. */
const STALE_MS = 24 * 3_600_000;

export function createStatusFiles(deps: { folder: string; log: Log; now?: () => number }): PlainEndpoints {
  const { folder, log, now = Date.now } = deps;
  const files = createTrustedFolder({ folder, log, isFile: (name) => NAME.test(name), schema: Status });

  return {
    async read() {
      const found = await files.read();
      return Promise.all(
        newestOfPorts(found.filter((file) => now() - file.modifiedAt < STALE_MS)).map(endpointOf),
      );
    },
    refused: files.refused,
  };
}

/**
 * Of several files that name a port only the newest counts: the bridge closes its older connection when another one comes, so
 * two links to one Editor would end each other's calls.
 */
function newestOfPorts(found: TrustedFile<Status>[]): Status[] {
  const byPort = new Map<number, Status>();
  for (const { content } of found.sort((a, b) => a.modifiedAt - b.modifiedAt)) {
    byPort.set(content.unity_port, content);
  }
  return [...byPort.values()];
}

async function endpointOf({ unity_port: port, reloading, project_path }: Status): Promise<PlainEndpoint> {
  const said = project_path.replace(/[\\/]Assets[\\/]?$/, "");
  // As our own bridge of this project would be named.
  const projectPath = await realpath(said).catch(() => said);
  const projectName = basename(projectPath.replaceAll("\\", "/"));
  const editorId = editorIdOf(projectName, thisMachine(), projectPath);
  return {
    host: "127.0.0.1",
    port,
    phase: reloading ? "reloading" : "ready",
    plain: { bridge: "unity-mcp", editorId, projectName, projectPath: said },
  };
}

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
  const identity = { brokerId, workerId, version: deps.version };
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
