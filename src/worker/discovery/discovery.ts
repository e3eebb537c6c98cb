/** Finds the Editors that wrote an endpoint file, and those that the configuration names. */
import { type FSWatcher, watch } from "node:fs";
import { diagnoseFile, type RefusedFile } from "../../shared/editors/refused-endpoint.js";
import type { Store } from "../../shared/store/store.js";
import type { Log } from "../../shared/telemetry.js";
import type { EndpointFile } from "../../shared/wire/wire.js";
import type { PlainIdentity } from "../bridges/bridge.js";
import { createEndpointFolder, LOOPBACK } from "./endpoint-folder.js";

/** An address from the configuration; a missing token is taken from the file of the Editor at that address. */
export interface ExplicitEndpoint {
  host: string;
  port: number;
  token?: string | undefined;
  /** Its identity if the peer at that address does not report one. */
  plain?: PlainIdentity | undefined;
}

/** An Editor with a plain bridge that was found by that bridge's own files. */
export interface PlainEndpoint extends ExplicitEndpoint {
  plain: PlainIdentity;
  phase: string;
}

/** The files of a bridge that is not ours. */
export interface PlainEndpoints {
  /** Never rejects; called by one look at a time. */
  read(): Promise<PlainEndpoint[]>;
  /** Files that were not trusted at the last read. */
  refused(): RefusedFile[];
}

export interface DiscoveredEditor {
  /** Its key as long as it is known: the editorId of a file, `host:port` of an explicit endpoint. */
  key: string;
  host: string;
  port: number;
  token: string;
  /** Its own `host:port`, if that is forwarded to the address above. */
  listensOn?: string | undefined;
  /** The content of its file; undefined for an explicit endpoint without one. */
  editorId: string | undefined;
  projectName: string | undefined;
  projectPath?: string | undefined;
  pid: number | undefined;
  /** Its phase when it wrote its file. */
  phase?: string | undefined;
  /** Its identity if its bridge does not report one: it wrote no file of ours. */
  plain?: PlainIdentity | undefined;
}

export interface DiscoveryDeps {
  /** Undefined: use only the explicit endpoints. */
  folder: string | undefined;
  explicit: readonly ExplicitEndpoint[];
  /** Further explicit endpoints, whose address may change: called at every look; never rejects. */
  configured?: () => Promise<readonly ExplicitEndpoint[]>;
  /** Editors that the files of another bridge name. What is known otherwise of a project or an address counts instead. */
  foreign?: PlainEndpoints | undefined;
  log: Log;
  options?: {
    /** ms between two looks at the folder; changes that the system reports are noticed earlier. */
    pollMs?: number;
    /** False: only poll. */
    watch?: boolean;
    isAlive?: (pid: number) => boolean;
  };
}

/** Called one after another for each difference, never before `createDiscovery` has returned nor after close(). */
export interface DiscoveryHandlers {
  onFound(editor: DiscoveredEditor): void;
  /** Same key, but another address, token or process. A new phase alone is not a change. */
  onChanged(editor: DiscoveredEditor, before: DiscoveredEditor): void;
  /** Its file or its process is gone. Explicit endpoints are never lost. */
  onLost(editor: DiscoveredEditor): void;
  /** Called at every look with the files that are not trusted, even if there are none. */
  onRefused?(files: RefusedFile[]): void;
}

export interface Discovery {
  /** Known now. */
  editors(): DiscoveredEditor[];
  /** Looks at once; resolves once the folder's present content was reported. */
  look(): Promise<void>;
  /** Resolves once nothing is open any more; reports no losses. */
  close(): Promise<void>;
}

export function createDiscovery(deps: DiscoveryDeps, handlers: DiscoveryHandlers): Discovery {
  const { folder, explicit, log, options = {} } = deps;
  const { pollMs = 1_000, isAlive } = options;
  let named: readonly ExplicitEndpoint[] = explicit;
  const isNamed = (host: string): boolean => named.some((endpoint) => endpoint.host === host);
  const files =
    folder === undefined
      ? undefined
      : createEndpointFolder({ folder, log, isNamed, ...(isAlive && { isAlive }) });

  let known = new Map<string, DiscoveredEditor>();
  let closed = false;
  let watcher: FSWatcher | undefined;
  let poll: NodeJS.Timeout | undefined;
  /** The look under way, and the next one; a third would see nothing more. */
  let running: Promise<void> | undefined;
  let following: Promise<void> | undefined;

  const report = (event: string, handle: () => void): void => {
    if (closed) return;
    try {
      handle();
    } catch (error) {
      log.warn({ event, err: error }, "handling a discovered Editor failed");
    }
  };

  const compare = (now: Map<string, DiscoveredEditor>): void => {
    const before = known;
    known = now;
    // Losses first: an Editor may have come back under another key on the same port.
    for (const editor of before.values()) {
      if (!now.has(editor.key)) report("lost", () => handlers.onLost(editor));
    }
    for (const editor of now.values()) {
      const former = before.get(editor.key);
      if (!former) report("found", () => handlers.onFound(editor));
      else if (!sameEditor(former, editor)) report("changed", () => handlers.onChanged(editor, former));
    }
  };

  const watchFolder = (): void => {
    if (watcher || closed || folder === undefined || options.watch === false) return;
    try {
      watcher = watch(folder, { persistent: false }, () => void look());
      // The folder was removed, or the system has no notifications: polling goes on and tries again.
      watcher.on("error", unwatch);
    } catch {
      unwatch();
    }
  };
  const unwatch = (): void => {
    watcher?.close();
    watcher = undefined;
  };

  const lookNow = async (): Promise<void> => {
    clearTimeout(poll);
    watchFolder();
    named = [...explicit, ...((await deps.configured?.()) ?? [])];
    const found = (await files?.read()) ?? [];
    const foreign = (await deps.foreign?.read()) ?? [];
    if (closed) return;
    compare(merge(named, found, foreign));
    const refused = [...(files?.refused() ?? []), ...(deps.foreign?.refused() ?? [])];
    report("refused", () => handlers.onRefused?.(refused));
    if (files || deps.configured || deps.foreign) poll = setTimeout(() => void look(), pollMs);
  };

  const look = (): Promise<void> => {
    if (closed) return Promise.resolve();
    if (!running) {
      running = lookNow().finally(() => {
        running = undefined;
      });
      return running;
    }
    following ??= running.then(() => {
      following = undefined;
      return look();
    });
    return following;
  };

  // The first look begins in a later turn, after the caller has received this object.
  poll = setTimeout(() => void look(), 0);

  return {
    editors: () => [...known.values()],
    look,
    async close() {
      closed = true;
      clearTimeout(poll);
      unwatch();
      await running;
      clearTimeout(poll);
    },
  };
}

/** Explicit endpoints and files by key; a file with an explicit endpoint's address belongs to that endpoint. */
function merge(
  explicit: readonly ExplicitEndpoint[],
  files: readonly EndpointFile[],
  foreign: readonly PlainEndpoint[],
): Map<string, DiscoveredEditor> {
  const editors = new Map<string, DiscoveredEditor>();
  const named = new Set(explicit.map(socketOf));
  for (const endpoint of explicit) {
    const { host, port, token } = endpoint;
    const file = files.find((each) => socketOf(each) === socketOf(endpoint));
    const { plain } = endpoint;
    // The named Editor has our bridge by now, and its file tells where it listens.
    if (!file && files.some(({ editorId }) => editorId === plain?.editorId)) continue;
    const key = plain?.editorId ?? `${host}:${port}`;
    const known = described(key, { host, port, token: token ?? file?.token ?? "" }, file);
    editors.set(key, file || !plain ? known : described(key, known, plain, plain));
  }
  for (const file of files) {
    if (!named.has(socketOf(file))) editors.set(file.editorId, described(file.editorId, file, file));
  }
  const taken = new Set([...explicit, ...files].map(socketOf));
  for (const { host, port, phase, plain } of foreign) {
    if (taken.has(socketOf({ host, port })) || editors.has(plain.editorId)) continue;
    const identity = { ...plain, phase };
    editors.set(plain.editorId, described(plain.editorId, { host, port, token: "" }, identity, plain));
  }
  return editors;
}

/** The address for comparison: every loopback name means the same machine. */
function socketOf({ host, port }: { host: string; port: number }): string {
  return `${LOOPBACK.has(host) ? "127.0.0.1" : host}:${port}`;
}

/** What a file, or the name that was given, says of an Editor. */
interface KnownIdentity {
  editorId: string;
  projectName: string;
  projectPath?: string | undefined;
  pid?: number;
  phase?: string | undefined;
  listensOn?: string | undefined;
}

function described(
  key: string,
  { host, port, token }: { host: string; port: number; token: string },
  identity: KnownIdentity | undefined,
  plain?: PlainIdentity,
): DiscoveredEditor {
  const { editorId, projectName, projectPath, pid, phase, listensOn } = identity ?? {};
  const known = { key, host, port, token, listensOn, editorId, projectName, projectPath, pid, phase };
  return plain ? { ...known, plain } : known;
}

function sameEditor(a: DiscoveredEditor, b: DiscoveredEditor): boolean {
  return (
    a.host === b.host &&
    a.port === b.port &&
    a.token === b.token &&
    a.listensOn === b.listensOn &&
    a.editorId === b.editorId &&
    a.pid === b.pid &&
    a.plain?.bridge === b.plain?.bridge
  );
}

/** Reports endpoint files that are not trusted, so that callers learn why an Editor is missing. */
export interface RefusedFiles {
  /** The present refused files; call it repeatedly, because a report expires. Never throws. */
  are(files: readonly RefusedFile[]): void;
  /** Withdraws the reports. */
  close(): Promise<void>;
}

export function createRefusedFiles(
  deps: { store: Pick<Store, "editors" | "operations">; log: Log },
  options: { reportAgainMs: number },
): RefusedFiles {
  const { editors, operations } = deps.store;
  /** By Editor: the last report, and its time. */
  const reported = new Map<string, { why: string; at: number }>();

  const report = async (files: readonly RefusedFile[]): Promise<void> => {
    const now = performance.now();
    for (const file of files) {
      const { editorId, why } = file;
      const before = reported.get(editorId);
      if (before?.why === why && now - before.at < options.reportAgainMs) continue;
      // A file may carry any Editor's name: nothing is reported of an Editor that works.
      if ((await editors.find(editorId))?.live) continue;
      const at = await operations.now();
      await editors.reportDiagnosis(editorId, { ...diagnoseFile(file), project: editorId, at });
      reported.set(editorId, { why, at: now });
    }
    for (const editorId of [...reported.keys()]) {
      if (files.some((file) => file.editorId === editorId)) continue;
      reported.delete(editorId);
      await editors.reportDiagnosis(editorId, undefined);
    }
  };

  let turn: Promise<void> = Promise.resolve();
  const inTurn = (files: readonly RefusedFile[]): void => {
    turn = turn
      .then(() => report(files))
      .catch((error: Error) => deps.log.warn({ error: error.message }, "reporting refused endpoint files"));
  };
  return {
    are: inTurn,
    async close() {
      inTurn([]);
      await turn;
    },
  };
}
