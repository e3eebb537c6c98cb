/** The tokens of a gateway: a file that names principals and keeps only hashes. */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { mkdir, readFile, rename, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { BrokerError } from "../../shared/errors.js";
import { isOfThisUser } from "../../shared/machine/private-folder.js";
import type { Band } from "../../shared/operation.js";
import { type Authenticator, LOCAL_PRINCIPAL } from "./authenticator.js";

const TokenEntry = z.object({
  principal: z.string().min(1),
  /** Of the token, hexadecimal. 256 random bits need no slow hash. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.string(),
  band: z.enum(["interactive", "batch"]).default("interactive"),
});
const TokenFile = z.object({ tokens: z.array(TokenEntry) });
export type TokenEntry = z.infer<typeof TokenEntry>;

export interface Tokens extends Authenticator {
  /** A new token for a principal that has none; shown here only. Throws TOKEN_REFUSED. */
  create(principal: string, band?: Band): Promise<string>;
  list(): Promise<TokenEntry[]>;
  /** True if the principal had a token; running gateways refuse it from the next request on. */
  revoke(principal: string): Promise<boolean>;
}

const PRINCIPAL = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** A token that people can tell apart from other secrets, and secret scanners too. */
export function newToken(): string {
  return `ujb_${randomBytes(32).toString("base64url")}`;
}

/**
 * Over one file, read again whenever it changed: a token that is revoked by another process, or by hand, is refused
 * from the next request on. A missing file has no tokens. Two commands that write at once: the later one wins.
 */
export function createTokens(file: string): Tokens {
  let known: { stamp: string; entries: TokenEntry[] } | undefined;

  const read = async (): Promise<TokenEntry[]> => {
    const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (!found) return [];
    // A container of root's reads a file of its machine's user.
    if (!isOfThisUser(found) && process.getuid?.() !== 0) {
      throw new BrokerError("TOKENS_UNREADABLE", `${file} belongs to another user.`);
    }
    const stamp = `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (known?.stamp === stamp) return known.entries;
    known = { stamp, entries: parse(file, await readFile(file, "utf8")) };
    return known.entries;
  };

  const write = async (entries: readonly TokenEntry[]): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const draft = `${file}.${randomUUID()}.tmp`;
    await writeFile(draft, `${JSON.stringify({ tokens: entries }, undefined, 2)}\n`, { mode: 0o600 });
    await rename(draft, file);
  };

  return {
    async principalOf(token) {
      if (token === undefined) return undefined;
      const hash = hashOf(token);
      return (await read()).find(({ sha256 }) => timingSafeEqual(hash, Buffer.from(sha256, "hex")))
        ?.principal;
    },

    async bandOf(principal) {
      return (await read()).find((entry) => entry.principal === principal)?.band ?? "interactive";
    },

    async create(principal, band = "interactive") {
      if (!PRINCIPAL.test(principal)) {
        throw new BrokerError("TOKEN_REFUSED", `"${principal}" cannot name a principal.`);
      }
      const entries = await read();
      if (principal === LOCAL_PRINCIPAL || entries.some((entry) => entry.principal === principal)) {
        throw new BrokerError("TOKEN_REFUSED", `The principal "${principal}" has a token.`);
      }
      const token = newToken();
      const entry = {
        principal,
        sha256: hashOf(token).toString("hex"),
        createdAt: new Date().toISOString(),
        band,
      };
      await write([...entries, entry]);
      return token;
    },

    list: async () => [...(await read())],

    async revoke(principal) {
      const entries = await read();
      const left = entries.filter((entry) => entry.principal !== principal);
      if (left.length === entries.length) return false;
      await write(left);
      return true;
    },
  };
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

function parse(file: string, text: string): TokenEntry[] {
  try {
    return TokenFile.parse(JSON.parse(text)).tokens;
  } catch (error) {
    // The parser's own words quote the text, and somebody may have written a token there.
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : "it is not JSON";
    throw new BrokerError("TOKENS_UNREADABLE", `${file} is not a token file: ${reason}.`, {}, error);
  }
}
