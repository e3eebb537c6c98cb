/** The key with which workers recognise their own operations in an Editor's ledger (src/shared/operation/recover.ts). */
import { randomBytes, randomUUID } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Log } from "../../shared/telemetry.js";

const KEY_BYTES = 32;

/**
 * The key in this file, created if there is none. Processes that start at once agree: the file appears whole, and the first one
 * stays. Readable by its owner only. Rejects if the file holds no key, or can be neither read nor created.
 */
export async function ensureRecoveryKey(file: string): Promise<Buffer> {
  const known = await readKey(file);
  if (known) return known;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, `${randomBytes(KEY_BYTES).toString("hex")}\n`, { mode: 0o600 });
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  } finally {
    await rm(draft, { force: true });
  }
  const made = await readKey(file);
  if (!made) throw new Error(`${file} was removed while it was created: run this again`);
  return made;
}

/** A key of this process alone, if none can be stored: operations sent by other processes are then not restored. */
export function temporaryRecoveryKey(log: Log, file: string, error: Error): Buffer {
  log.warn(
    { file, error: error.message },
    "the key of the recovery metadata can be neither read nor created: operations that the store loses cannot be restored after a restart; set UNITY_BROKER_ORIGIN_KEY_FILE",
  );
  return randomBytes(KEY_BYTES);
}

async function readKey(file: string): Promise<Buffer | undefined> {
  let text: string;
  try {
    text = (await readFile(file, "utf8")).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  if (/^[\da-f]{64,}$/i.test(text)) return Buffer.from(text, "hex");
  throw new Error(
    `${file} holds no key: write 64 hexadecimal digits or more, such as the output of \`openssl rand -hex 32\``,
  );
}
