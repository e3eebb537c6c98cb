/** The principals of a gateway and their tokens: a file that keeps only hashes. */
import { createHash, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { mkdir, readFile, rmdir, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { BrokerError } from "../../shared/errors.js";
import { isOfThisUser, replaceOwnFile, shellQuoted } from "../../shared/machine/private-folder.js";
import { EVERYTHING, LOCAL, type NameFilter, type Principal } from "../../shared/principal.js";
import type { Authenticator } from "./authenticator.js";
import { type Entry, parseTokenFile, principalOf, type Token, tokenFileText } from "./token-file.js";

/**
 * What a principal may do. Omitted fields keep their value; defaults of a new principal: role `submit`, interactive, every
 * Editor and tool.
 */
export interface Grants extends Partial<Pick<Principal, "role" | "priorityClass">> {
  editors?: Partial<NameFilter>;
  tools?: Partial<NameFilter>;
}

export interface Tokens extends Authenticator {
  /** Creates a principal and its first token, which is shown only here. Throws TOKEN_REFUSED. */
  create(name: string, grants?: Grants, expiresAt?: Date): Promise<string>;
  /** Adds a token to a principal. Throws TOKEN_REFUSED. */
  add(name: string, expiresAt?: Date): Promise<string>;
  /** Changes what a principal may do; false if there is none of this name. */
  grant(name: string, grants: Grants): Promise<boolean>;
  list(): Promise<Entry[]>;
  /**
   * Revokes a token or, without `tokenId`, the principal: a later one of this name is a different principal. True if it
   * existed. Running gateways refuse it from the next request on, and end its open requests.
   */
  revoke(name: string, tokenId?: string): Promise<boolean>;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;

/** An older lock belongs to a command that was killed. */
const LOCK_MS = 10_000;

/** A token with a prefix that people and secret scanners recognise. */
export function newToken(): string {
  return `ujb_${randomBytes(32).toString("base64url")}`;
}

/**
 * Over one file, read again whenever it changed: a token that another process revoked, or that was removed manually, is
 * refused from the next request on. A missing file has no tokens. Of two commands that write at once one waits.
 */
export function createTokens(file: string): Tokens {
  let known: { stamp: string; entries: Entry[] } | undefined;

  const read = async (): Promise<Entry[]> => {
    const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (!found) return [];
    // A container running as root may read a file of the host's user.
    if (!isOfThisUser(found) && process.getuid?.() !== 0) {
      throw new BrokerError("TOKENS_UNREADABLE", `${file} belongs to another user.`);
    }
    if (process.platform !== "win32" && (found.mode & 0o022) !== 0) {
      throw new BrokerError(
        "TOKENS_UNREADABLE",
        `${file} may be written by other users: chmod 600 ${shellQuoted(file)}.`,
      );
    }
    const stamp = `${found.ino} ${found.mtimeMs} ${found.size}`;
    if (known?.stamp === stamp) return known.entries;
    known = { stamp, entries: parseTokenFile(file, await readFile(file, "utf8")) };
    return known.entries;
  };

  const write = async (entries: readonly Entry[]): Promise<void> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    replaceOwnFile(file, tokenFileText(entries));
  };

  /** No other command writes between what `task` reads and what it writes. */
  const alone = async <T>(task: () => Promise<T>): Promise<T> => {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    const lock = `${file}.lock`;
    for (;;) {
      const taken = await mkdir(lock).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw error;
          return false;
        },
      );
      if (taken) break;
      const at = await stat(lock).catch(() => undefined);
      // The command that held it was killed: none takes this long.
      if (at && Date.now() - at.mtimeMs > LOCK_MS) await rmdir(lock).catch(() => undefined);
      else await delay(20);
    }
    try {
      return await task();
    } finally {
      await rmdir(lock).catch(() => undefined);
    }
  };

  /** Replaces or removes the principal of this name; false if there is none, or nothing changes. */
  const change = (name: string, to: (entry: Entry) => Entry | undefined): Promise<boolean> =>
    alone(async () => {
      const entries = await read();
      const entry = entries.find((each) => each.name === name);
      const changed = entry && to(entry);
      if (!entry || changed === entry) return false;
      await write(entries.flatMap((each) => (each === entry ? (changed ?? []) : [each])));
      return true;
    });

  return {
    async identify(token) {
      if (token === undefined) return undefined;
      const hash = hashOf(token);
      for (const entry of await read()) {
        for (const { id, sha256, expiresAt } of entry.tokens) {
          if (!timingSafeEqual(hash, Buffer.from(sha256, "hex"))) continue;
          return isOver(expiresAt) ? undefined : { principal: principalOf(entry), tokenId: id };
        }
      }
      return undefined;
    },

    async find(id) {
      const entry = (await read()).find((each) => each.id === id);
      return entry && principalOf(entry);
    },

    async isValid({ principal, tokenId }) {
      const entry = (await read()).find(({ id }) => id === principal.id);
      const token = entry?.tokens.find(({ id }) => id === tokenId);
      return token !== undefined && !isOver(token.expiresAt);
    },

    async create(name, grants = {}, expiresAt) {
      if (!NAME.test(name)) throw new BrokerError("TOKEN_REFUSED", `"${name}" cannot name a principal.`);
      return alone(async () => {
        const entries = await read();
        if (name === LOCAL.name)
          throw new BrokerError(
            "TOKEN_REFUSED",
            'The name "local" is reserved for this user of this machine.',
          );
        if (entries.some((entry) => entry.name === name)) {
          throw new BrokerError("TOKEN_REFUSED", `A principal "${name}" already exists.`);
        }
        const { token, kept } = tokenUntil(expiresAt);
        const id = `p-${randomUUID()}`;
        await write([...entries, granted({ ...NEW, id, name, tokens: [kept] }, grants)]);
        return token;
      });
    },

    async add(name, expiresAt) {
      const { token, kept } = tokenUntil(expiresAt);
      const isKnown = await change(name, (entry) => ({ ...entry, tokens: [...entry.tokens, kept] }));
      if (!isKnown) throw new BrokerError("TOKEN_REFUSED", `There is no principal "${name}".`);
      return token;
    },

    grant: (name, grants) => change(name, (entry) => granted(entry, grants)),

    list: async () => [...(await read())],

    revoke: (name, tokenId) =>
      change(name, (entry) => {
        if (tokenId === undefined) return undefined;
        const left = entry.tokens.filter(({ id }) => id !== tokenId);
        return left.length === entry.tokens.length ? entry : { ...entry, tokens: left };
      }),
  };
}

const NEW: Pick<Principal, "role" | "priorityClass" | "editors" | "tools"> = {
  role: "submit",
  priorityClass: "interactive",
  editors: EVERYTHING,
  tools: EVERYTHING,
};

function granted(entry: Principal & { tokens: Token[] }, grants: Grants): Entry {
  const { editors, tools, ...changed } = grants;
  const selection = (before: NameFilter, after: Partial<NameFilter> = {}) => {
    const { allow, deny } = { ...before, ...after };
    return { allow: [...allow], deny: [...deny] };
  };
  return {
    ...entry,
    ...changed,
    editors: selection(entry.editors, editors),
    tools: selection(entry.tools, tools),
  };
}

function tokenUntil(expiresAt: Date | undefined): { token: string; kept: Token } {
  const token = newToken();
  const kept = {
    id: randomBytes(4).toString("hex"),
    sha256: hashOf(token).toString("hex"),
    createdAt: new Date().toISOString(),
    ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
  };
  return { token, kept };
}

function isOver(expiresAt: string | undefined): boolean {
  return expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
}

function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
