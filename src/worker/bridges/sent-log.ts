/**
 * Resubmission (▲12): records the calls sent to an Editor that keeps no ledger. An id is on disk before the first byte of its call leaves,
 * and no worker of this machine ever sends an id that is recorded here.
 *
 * Each Editor has a folder. Workers append to `sent.log`; a full one is renamed (`sent.<n>-….log`) and never rewritten,
 * so a worker that was paused meanwhile loses no line. Beyond a maximum the oldest file is dropped; from then
 * on nothing accepted before its newest entry may be sent (the forget horizon), because its id may have been in it.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import * as promises from "node:fs/promises";
import { join } from "node:path";
import type { SentCall } from "../../shared/wire/plain.js";

export interface SentLog {
  /** Identifies this log; a log that was lost and started again has another id. */
  readonly id: string;
  /** ms on the store's clock: calls accepted before it may have been forgotten. 0: none was. */
  forgetHorizon(): number;
  find(operationId: string): SentCall | undefined;
  latestOfHash(hash: string): SentCall | undefined;
  /** Reads the lines that other workers have added; rejects if the log cannot be read. */
  refresh(): Promise<void>;
  /**
   * Records the call and waits for the disk. True: it may be sent, once. False: another worker recorded it
   * first. Rejects if it cannot be written or read back: then it must not be sent. Must not be called concurrently.
   */
  enter(call: SentCall): Promise<boolean>;
}

/** What the log does to its files; tests let the n-th of these fail. */
export type SentLogFiles = Pick<
  typeof promises,
  "copyFile" | "link" | "mkdir" | "open" | "readdir" | "rename" | "rm" | "stat" | "unlink" | "writeFile"
>;

export interface SentLogOptions {
  /** A file larger than this is followed by a new one, bytes. */
  segmentBytes?: number;
  /** Most files besides the active one. */
  segments?: number;
  files?: SentLogFiles;
}

interface Segment {
  ino: number;
  /** Bytes read so far, to the end of the last whole line. */
  read: number;
  header: { id: string; horizon: number } | undefined;
  entries: Entry[];
}

interface Entry extends SentCall {
  nonce: string;
}

const ACTIVE = "sent.log";
const SEGMENT = /^sent\.(\d+)-[0-9a-f]+\.log$/;
const HEADER = /^ujb-sent 1 (\S+) (\d+)\.$/;
/** The dot marks the end: a line without it was torn by a crash, so its call was never sent. */
const ENTRY = /^(\S+) (\S+) (\d+) (\d+) ([0-9a-f]{16})\.$/;

/** Opens or creates the log of one Editor; rejects when the folder cannot be read or written. */
export async function openSentLog(folder: string, options: SentLogOptions = {}): Promise<SentLog> {
  const { segmentBytes = 1024 * 1024, segments: maxSegments = 8 } = options;
  const { copyFile, link, mkdir, open, readdir, rename, rm, stat, unlink, writeFile } =
    options.files ?? promises;
  /** By file name, the oldest first. */
  let files = new Map<string, Segment>();
  let byId = new Map<string, SentCall>();
  let byHash = new Map<string, SentCall>();
  let known: string | undefined;
  /** The active file that is on disk under its name. */
  let durable: number | undefined;

  const readFrom = async (name: string, known: Segment | undefined): Promise<Segment> => {
    const path = join(folder, name);
    const { ino, size } = await stat(path);
    const before = known && known.ino === ino && known.read <= size ? known : undefined;
    if (before && before.read === size) return before;
    const from = before?.read ?? 0;
    const file = await open(path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      const whole = buffer.subarray(0, bytesRead).lastIndexOf(0x0a) + 1;
      const lines = buffer.subarray(0, whole).toString("utf8").split("\n");
      const header = before?.header ?? headerOf(lines[0] ?? "");
      const entries = [...(before?.entries ?? []), ...lines.flatMap((line) => entryOf(line) ?? [])];
      return { ino, read: from + whole, header, entries };
    } finally {
      await file.close();
    }
  };

  const refresh = async (tries = 3): Promise<void> => {
    try {
      await readAll();
    } catch (error) {
      // Renamed by another worker between two looks.
      if (codeOf(error) !== "ENOENT" || tries <= 1) throw error;
      await refresh(tries - 1);
    }
  };

  const readAll = async (): Promise<void> => {
    const found = (await readdir(folder)).filter((name) => name === ACTIVE || SEGMENT.test(name));
    const next = new Map<string, Segment>();
    for (const name of found.sort((a, b) => ageOf(a) - ageOf(b))) {
      next.set(name, await readFrom(name, files.get(name)));
    }
    files = next;
    if (known !== undefined && headers()[0]?.id !== known) throw new Error(`${folder} is another log now`);
    const all = [...files.values()].flatMap(({ entries }) => entries);
    byId = new Map(all.map((entry) => [entry.operationId, entry]));
    byHash = new Map(all.map((entry) => [entry.hash, entry]));
  };

  const headers = () => [...files.values()].flatMap(({ header }) => header ?? []);
  const horizon = (): number => Math.max(0, ...headers().map((header) => header.horizon));

  /** Creates the active file, unless another worker was faster. */
  const begin = async (id: string, forgetBefore: number): Promise<void> => {
    const made = join(folder, `new-${randomBytes(6).toString("hex")}`);
    const active = join(folder, ACTIVE);
    try {
      await writeFile(made, `ujb-sent 1 ${id} ${forgetBefore}.\n`, { mode: 0o600, flush: true });
      // Never replaces an existing file, whose lines would be lost. Not every file system has hard links.
      await link(made, active)
        .catch((error: unknown) =>
          codeOf(error) === "EEXIST" ? undefined : copyFile(made, active, constants.COPYFILE_EXCL),
        )
        .catch((error: unknown) => {
          if (codeOf(error) !== "EEXIST") throw error;
        });
    } finally {
      await rm(made, { force: true });
    }
  };

  /** Afterwards there is an active file, and its name is on disk. A full disk may have refused it before. */
  const makeActive = async (id: string, forgetBefore = horizon()): Promise<void> => {
    if (!files.has(ACTIVE)) {
      await begin(id, forgetBefore);
      await refresh();
    }
    const ino = files.get(ACTIVE)?.ino;
    if (ino === durable) return;
    await syncFolder();
    durable = ino;
  };

  /** A crash can lose a new folder entry like unwritten bytes. Where folders cannot be flushed, the system does it. */
  const syncFolder = async (): Promise<void> => {
    try {
      const handle = await open(folder, "r");
      await handle.sync().finally(() => handle.close());
    } catch (error) {
      if (!["EISDIR", "EPERM", "EACCES", "EINVAL", "ENOTSUP"].includes(codeOf(error) ?? "")) throw error;
    }
  };

  const rotate = async (): Promise<void> => {
    const full = [...files].filter(([name]) => name !== ACTIVE);
    const dropped = full.slice(0, Math.max(0, full.length + 1 - maxSegments));
    const newest = Math.max(-1, ...dropped.flatMap(([, { entries }]) => entries.map((e) => e.acceptedAt)));
    const forgetBefore = Math.max(horizon(), newest + 1);
    const number = Math.max(0, ...full.map(([name]) => ageOf(name))) + 1;
    await rename(join(folder, ACTIVE), join(folder, `sent.${number}-${randomBytes(3).toString("hex")}.log`));
    await refresh();
    await makeActive(log.id, forgetBefore);
    // Delete only after the horizon is on disk.
    if (horizon() < forgetBefore) return;
    for (const [name] of dropped) await unlink(join(folder, name)).catch(ifGone);
    await refresh();
  };

  const append = async (line: string): Promise<void> => {
    const file = await open(join(folder, ACTIVE), constants.O_WRONLY | constants.O_APPEND);
    try {
      // The leading newline ends a line that a crash may have torn.
      const bytes = Buffer.from(`\n${line}\n`);
      const { bytesWritten } = await file.write(bytes);
      if (bytesWritten !== bytes.length) throw new Error("the disk took only a part of the line");
      await file.sync();
    } finally {
      await file.close();
    }
  };

  /** The worker whose line comes first may send the call; if the file may be dropped meanwhile, nobody may. */
  const isOurs = (operationId: string, nonce: string): boolean => {
    const recent = new Set([...files.keys()].slice(-2));
    const lines = [...files].flatMap(([name, { entries }]) =>
      entries.filter((entry) => entry.operationId === operationId).map((entry) => ({ ...entry, name })),
    );
    const first = lines[0];
    if (!lines.some((line) => line.nonce === nonce)) throw new Error("the line cannot be read back");
    return first?.nonce === nonce && recent.has(first.name);
  };

  await mkdir(folder, { recursive: true, mode: 0o700 });
  await refresh();
  await makeActive(headers()[0]?.id ?? randomUUID());

  const [header] = headers();
  // Its beginning is damaged, so its content is unknown.
  if (!header) throw new Error(`${join(folder, ACTIVE)} has no readable beginning`);
  known = header.id;

  const log: SentLog = {
    id: header.id,
    forgetHorizon: horizon,
    find: (operationId) => byId.get(operationId),
    latestOfHash: (hash) => byHash.get(hash),
    refresh: () => refresh(),
    async enter({ operationId, hash, acceptedAt, sentAt }) {
      await refresh();
      if ((files.get(ACTIVE)?.read ?? 0) > segmentBytes) await rotate();
      await makeActive(log.id);
      if (byId.has(operationId)) return false;
      const nonce = randomBytes(8).toString("hex");
      await append(`${operationId} ${hash} ${acceptedAt} ${sentAt} ${nonce}.`);
      await refresh();
      return isOurs(operationId, nonce);
    },
  };
  return log;
}

function headerOf(line: string): Segment["header"] {
  const [, id, horizon] = HEADER.exec(line) ?? [];
  return id === undefined ? undefined : { id, horizon: Number(horizon) };
}

function entryOf(line: string): Entry | undefined {
  const [, operationId, hash, acceptedAt, sentAt, nonce] = ENTRY.exec(line) ?? [];
  if (operationId === undefined || hash === undefined || nonce === undefined) return undefined;
  return { operationId, hash, acceptedAt: Number(acceptedAt), sentAt: Number(sentAt), nonce };
}

/** The active file is the newest. */
function ageOf(name: string): number {
  return Number(SEGMENT.exec(name)?.[1] ?? Number.MAX_SAFE_INTEGER);
}

function ifGone(error: unknown): void {
  if (codeOf(error) !== "ENOENT") throw error;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
