/** A team's own prompts, from a folder: each file `<name>.json` is one, and an edited one counts at the next request. */
import { constants, type Stats } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Log } from "../../../shared/log.js";
import { sharedReading } from "../../editors/shared-reading.js";
import type { OfferedPrompt } from "./filled-prompt.js";
import { isPromptName, readPrompt } from "./prompt-file.js";

export interface PromptFolderDeps {
  /** A full path; it may come into being later. */
  folder: string;
  /** Names that no file may have. */
  taken: ReadonlySet<string>;
  log: Pick<Log, "warn">;
}

/** All of them are kept in memory. */
const MOST_FILES = 100;
const MOST_BYTES = 1024 * 1024;

/** File times are no finer than this on some systems, ms: a file that changed just now may change again unnoticed. */
const TICK_MS = 2_000;

const SUFFIX = ".json";

interface KnownFile {
  /** Undefined: it is read again. */
  stamp: string | undefined;
  /** Or what is wrong with the file. */
  content: OfferedPrompt | string;
}

/** Answers the prompts of valid files, by name; reads those that changed since the last time. Never rejects. */
export function promptFolder({ folder, taken, log }: PromptFolderDeps): () => Promise<OfferedPrompt[]> {
  let known = new Map<string, KnownFile>();
  /** The last fault of the folder itself. */
  let said: string | undefined;

  const sayOfFolder = (fault: string | undefined): void => {
    if (fault !== undefined && fault !== said) log.warn({ folder }, fault);
    said = fault;
  };

  return sharedReading(async () => {
    let files: string[] = [];
    try {
      // Names with a dot before them are of editors and systems, for themselves.
      files = (await readdir(folder)).filter((file) => file.endsWith(SUFFIX) && !file.startsWith(".")).sort();
      const left = files.splice(MOST_FILES);
      sayOfFolder(
        left.length === 0
          ? undefined
          : `The prompts' folder has more than ${MOST_FILES} files; ${left[0]} and what comes after it by name are skipped.`,
      );
    } catch (error) {
      const fault = codeOf(error) === "ENOENT" ? "does not exist" : `cannot be read (${codeOf(error)})`;
      sayOfFolder(`The prompts' folder ${fault}; there are the broker's own prompts only.`);
    }
    const read = new Map<string, KnownFile>();
    for (const file of files) {
      const before = known.get(file);
      const now = await readFileOf(join(folder, file), nameOf(file), taken, before);
      if (now === undefined) continue;
      read.set(file, now);
      const { content } = now;
      if (typeof content === "string" && content !== before?.content)
        log.warn({ folder, file }, `The prompt file ${file} is skipped: ${content}.`);
    }
    known = read;
    return [...read.values()].flatMap(({ content }) => (typeof content === "string" ? [] : [content]));
  });
}

/** Undefined if it has gone. */
async function readFileOf(
  path: string,
  name: string,
  taken: ReadonlySet<string>,
  before: KnownFile | undefined,
): Promise<KnownFile | undefined> {
  const fault = (content: string, stamp?: string): KnownFile => ({ stamp, content });
  if (!isPromptName(name))
    return fault("its name has other characters than letters, digits, _, - and ., or more than 64");
  if (taken.has(name)) return fault(`${name} is a prompt of the broker's own; give it another name`);
  try {
    // Do not wait for a pipe that another program left there.
    const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const info = await handle.stat();
      if (!info.isFile()) return fault("it is not a file");
      if (info.size > MOST_BYTES) return fault("it has more than 1 MiB");
      const stamp = stampOf(info);
      if (before && stamp !== undefined && before.stamp === stamp) return before;
      return { stamp, content: readPrompt(name, await handle.readFile("utf8")) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    return codeOf(error) === "ENOENT" ? undefined : fault(`it cannot be read (${codeOf(error)})`);
  }
}

function stampOf({ ino, size, mtimeMs, ctimeMs }: Stats): string | undefined {
  return Date.now() - mtimeMs < TICK_MS ? undefined : `${ino} ${size} ${mtimeMs} ${ctimeMs}`;
}

function nameOf(file: string): string {
  return file.slice(0, -SUFFIX.length);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
}
