/**
 * Resubmission (▲12): records the calls sent to an Editor that keeps no ledger. An id is on disk before the first byte of its call leaves,
 * and no worker of this machine ever sends an id that is recorded here.
 *
 * Each Editor has a folder. Workers append to `sent.log`; a full one is renamed (`sent.<n>-….log`) and never rewritten,
 * so a worker that was paused meanwhile loses no line. Beyond a maximum the oldest file is dropped; from then
 * on nothing accepted before its newest entry may be sent (the forget horizon), because its id may have been in it.
 *
 * What somebody deletes, cuts or empties while a worker uses it, that worker writes again from its memory.
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
  /** All that is known, the oldest first. */
  entries(): readonly SentEntry[];
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
  /** The same log as an earlier connection used it: what the disk has lost of it is written again. */
  before?: SentLog | undefined;
  files?: SentLogFiles;
}

/** Nobody knows what was sent, and no later attempt changes that: the message says what a person does. */
export class UnusableSentLog extends Error {}

interface Segment {
  ino: number;
  mtimeMs: number;
  /** Its first bytes, with the random line of this file: an inode's number is used again. */
  beginning: Buffer;
  /** Bytes read so far, to the end of the last whole line. */
  read: number;
  header: { id: string; horizon: number } | undefined;
  entries: SentEntry[];
}

interface SentEntry extends SentCall {
  nonce: string;
}

const ACTIVE = "sent.log";
const BEGINNING_BYTES = 128;
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
  /** What the files had when they were last read; it outlives them. */
  let memory: readonly SentEntry[] = options.before?.entries() ?? [];
  let horizon = options.before?.forgetHorizon() ?? 0;
  let known = options.before?.id;
  /** The beginning of the active file that is on disk under its name. */
  let durable: Buffer | undefined;

  const readFrom = async (name: string, known: Segment | undefined): Promise<Segment> => {
    const path = join(folder, name);
    const { ino, size, mtimeMs } = await stat(path);
    let before = known && known.ino === ino && known.read <= size ? known : undefined;
    if (before && before.read === size && before.mtimeMs === mtimeMs) return before;
    const file = await open(path, "r");
    const bytesAt = async (from: number, to: number): Promise<Buffer> => {
      if (to === from) return Buffer.alloc(0);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(to - from), 0, to - from, from);
      return buffer.subarray(0, bytesRead);
    };
    try {
      if (before && !before.beginning.equals(await bytesAt(0, before.beginning.length))) before = undefined;
      const from = before?.read ?? 0;
      const bytes = await bytesAt(from, size);
      const whole = bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
      const lines = whole.toString("utf8").split("\n");
      return {
        ...{ ino, mtimeMs, read: from + whole.length },
        beginning: from > 0 && before ? before.beginning : Buffer.from(whole.subarray(0, BEGINNING_BYTES)),
        header: before?.header ?? headerOf(lines[0] ?? ""),
        entries: [...(before?.entries ?? []), ...lines.flatMap((line) => entryOf(line) ?? [])],
      };
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

  const filesThere = async (): Promise<Map<string, Segment>> => {
    const names = await readdir(folder).catch((error: unknown) => {
      if (codeOf(error) !== "ENOENT" || known === undefined) throw error;
      return [];
    });
    const there = new Map<string, Segment>();
    const own = names.filter((name) => name === ACTIVE || SEGMENT.test(name));
    for (const name of own.sort((a, b) => ageOf(a) - ageOf(b)))
      there.set(name, await readFrom(name, files.get(name)));
    const id = headersOf(there)[0]?.id;
    if (known === undefined || id === undefined || id === known) return there;
    throw new UnusableSentLog(
      `sent.log was replaced by another log while it was in use. Remove ${folder}: this worker then writes what it knows into a new one; what only the removed log names as sent may be sent again.`,
    );
  };

  const readAll = async (): Promise<void> => {
    let there = await filesThere();
    for (let tries = 0; known !== undefined && isSpoilt(there); tries += 1) {
      if (tries > 2) throw new Error("what it has lost cannot be written again");
      // The first time only looked at again: another worker may have renamed a file meanwhile.
      if (tries > 0) await restore(known, there);
      there = await filesThere();
    }
    files = there;
    horizon = Math.max(horizon, horizonOf(files));
    memory = entriesOf(files);
    byId = new Map(memory.map((entry) => [entry.operationId, entry]));
    byHash = new Map(memory.map((entry) => [entry.hash, entry]));
  };

  /** What is known here and not there, without the oldest, which another worker may have dropped behind the horizon. */
  const lostFrom = (there: ReadonlyMap<string, Segment>): SentEntry[] => {
    const nonces = new Set(entriesOf(there).map(({ nonce }) => nonce));
    const kept = Math.max(horizon, horizonOf(there));
    const first = memory.findIndex(({ nonce, acceptedAt }) => nonces.has(nonce) || acceptedAt >= kept);
    return first < 0 ? [] : memory.slice(first).filter(({ nonce }) => !nonces.has(nonce));
  };
  const isSpoilt = (there: ReadonlyMap<string, Segment>): boolean =>
    headersOf(there).length === 0 || horizonOf(there) < horizon || lostFrom(there).length > 0;

  const restore = async (id: string, there: ReadonlyMap<string, Segment>): Promise<void> => {
    const lines = lostFrom(there).map(lineOf);
    const active = there.get(ACTIVE);
    const isWhole = active?.header !== undefined && horizonOf(there) >= horizon;
    if (isWhole) return append(lines.join("\n"));
    // Another worker may have written into it since it was cut.
    if (active) await setAside(there);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await begin(id, horizon, lines);
  };

  /** The active file becomes the newest of the full ones. */
  const setAside = async (there: ReadonlyMap<string, Segment>): Promise<void> => {
    const full = [...there.keys()].filter((name) => name !== ACTIVE);
    const number = Math.max(0, ...full.map(ageOf)) + 1;
    await rename(join(folder, ACTIVE), join(folder, `sent.${number}-${randomBytes(3).toString("hex")}.log`));
  };

  /** Creates the active file, unless another worker was faster. */
  const begin = async (id: string, forgetBefore: number, lines: readonly string[] = []): Promise<void> => {
    const name = `new-${randomBytes(6).toString("hex")}`;
    const made = join(folder, name);
    const text = [`ujb-sent 1 ${id} ${forgetBefore}.`, `file ${name}.`, ...lines, ""].join("\n");
    const active = join(folder, ACTIVE);
    try {
      await writeFile(made, text, { mode: 0o600, flush: true });
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
  const makeActive = async (id: string, forgetBefore = horizon): Promise<void> => {
    if (!files.has(ACTIVE)) {
      await begin(id, forgetBefore);
      await refresh();
    }
    const beginning = files.get(ACTIVE)?.beginning;
    if (beginning && durable?.equals(beginning)) return;
    await syncFolder();
    durable = beginning;
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
    const forgetBefore = Math.max(horizon, newest + 1);
    await setAside(files);
    await refresh();
    await makeActive(log.id, forgetBefore);
    // Delete only after the horizon is on disk.
    if (horizonOf(files) < forgetBefore) return;
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
  await makeActive(headersOf(files)[0]?.id ?? randomUUID());

  const [header] = headersOf(files);
  // Its beginning is damaged, so its content is unknown.
  if (!header)
    throw new UnusableSentLog(
      `${join(folder, ACTIVE)} has no readable beginning, so nobody knows what was sent. Remove that file: a new one is begun with the next call; what was sent before may then be sent again.`,
    );
  known = header.id;

  const log: SentLog = {
    id: header.id,
    forgetHorizon: () => horizon,
    find: (operationId) => byId.get(operationId),
    latestOfHash: (hash) => byHash.get(hash),
    entries: () => memory,
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

const headersOf = (files: ReadonlyMap<string, Segment>) =>
  [...files.values()].flatMap(({ header }) => header ?? []);
const horizonOf = (files: ReadonlyMap<string, Segment>): number =>
  Math.max(0, ...headersOf(files).map((header) => header.horizon));
const entriesOf = (files: ReadonlyMap<string, Segment>): SentEntry[] =>
  [...files.values()].flatMap(({ entries }) => entries);

const lineOf = ({ operationId, hash, acceptedAt, sentAt, nonce }: SentEntry): string =>
  `${operationId} ${hash} ${acceptedAt} ${sentAt} ${nonce}.`;

function headerOf(line: string): Segment["header"] {
  const [, id, horizon] = HEADER.exec(line) ?? [];
  return id === undefined ? undefined : { id, horizon: Number(horizon) };
}

function entryOf(line: string): SentEntry | undefined {
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
