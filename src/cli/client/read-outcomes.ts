/**
 * Which outcomes this user has read on the command line. Each command is a process of its own, so the broker cannot
 * know that the call typed now is a new call and not the retry of a lost one; this memory does. A call whose outcome
 * was printed names that outcome as `force_new` the next time: it runs once more, and its own retries find that run.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import canonicalize from "canonicalize";

export interface TypedCall {
  place: string;
  token: string | undefined;
  tool: string;
  /** As it was typed; undefined: left open. */
  editor: string | undefined;
  arguments: Record<string, unknown>;
}

export interface ReadOutcomes {
  /** The log_id of the newest outcome of this call that was printed whole. */
  of(call: TypedCall): Promise<string | undefined>;
  /** The outcome was printed whole. Never rejects: what cannot be remembered is only replayed. */
  printed(call: TypedCall, logId: string): Promise<void>;
}

/** Longer than a broker keeps outcomes by default; what is forgotten here is only replayed. */
const KEPT_MS = 24 * 3_600_000;

/** One small file a call, so that commands that run at once need no lock; a later one replaces an earlier one. */
export function createReadOutcomes(folder: string): ReadOutcomes {
  const fileOf = (call: TypedCall): string =>
    join(
      folder,
      createHash("sha256")
        .update(canonicalize(call) ?? "")
        .digest("hex"),
    );

  const ageOf = async (file: string): Promise<number> => Date.now() - (await stat(file)).mtimeMs;

  const prune = async (): Promise<void> => {
    for (const name of await readdir(folder)) {
      const file = join(folder, name);
      // Another command may prune at the same time.
      if ((await ageOf(file).catch(() => 0)) > KEPT_MS) await rm(file, { force: true });
    }
  };

  return {
    async of(call) {
      try {
        const file = fileOf(call);
        return (await ageOf(file)) > KEPT_MS ? undefined : (await readFile(file, "utf8")).trim();
      } catch {
        return undefined;
      }
    },

    async printed(call, logId) {
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const file = fileOf(call);
        await writeFile(`${file}.${process.pid}`, logId, { mode: 0o600 });
        await rename(`${file}.${process.pid}`, file);
        await prune();
      } catch {
        // A full disk must not make a failure of an operation that completed.
      }
    },
  };
}
