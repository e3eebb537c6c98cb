/** The token of this user on this machine: principal `local`, the same over stdio and HTTP. */
import { createHash, randomUUID, timingSafeEqual } from "node:crypto";
import { link, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { ownFile } from "../../shared/machine/private-folder.js";
import { LOCAL } from "../../shared/principal.js";
import type { Authenticator, Identity } from "./authenticator.js";
import { newToken } from "./tokens.js";

/**
 * The token in this file, created if there is none. Processes that start at once agree: the file appears whole, and the
 * first one stays. Readable by its owner only (on Windows the folder's permissions decide, which admit the user).
 */
export async function ensureLocalToken(file: string): Promise<string> {
  const known = await readLocalToken(file);
  if (known !== undefined) return known;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(draft, `${newToken()}\n`, { mode: 0o600 });
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    await rm(draft, { force: true });
  }
  const token = await readLocalToken(file);
  if (token === undefined) throw new Error(`${file} holds no token. Remove it, then run this again`);
  return token;
}

/** The token in this file; undefined if there is none. Rejects for another user's file; removes others' access. */
export async function readLocalToken(file: string): Promise<string | undefined> {
  try {
    // A file that another user put there would admit that user.
    ownFile(file);
    return (await readFile(file, "utf8")).trim() || undefined;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Accepts the local token in addition to those of `others`. */
export function withLocalToken(others: Authenticator, localToken: string): Authenticator {
  const expected = digest(localToken);
  // Another token in its place ends what this one opened.
  const identity: Identity = { principal: LOCAL, tokenId: expected.toString("hex").slice(0, 16) };
  return {
    async identify(token) {
      if (token !== undefined && timingSafeEqual(digest(token), expected)) return identity;
      return others.identify(token);
    },
    find: async (id) => (id === LOCAL.id ? LOCAL : others.find(id)),
    isValid: async (given) =>
      given.principal.id === LOCAL.id ? given.tokenId === identity.tokenId : others.isValid(given),
  };
}

/** Digests have one length, whatever is compared. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
