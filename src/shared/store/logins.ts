/** Logins of browsers (src/gateway/auth/browser-logins.ts): what a cookie stands for, at every gateway of the store. */
import { createHash, randomBytes } from "node:crypto";
import type { Redis } from "ioredis";
import { keys } from "./keys.js";

/** The principal and its token by which somebody logged in. */
export interface Login {
  principal: string;
  tokenId: string;
}

export interface Logins {
  /** Stores a login for this long; resolves to its secret, which is stored nowhere. */
  open(login: Login, lifeMs: number): Promise<string>;
  /** Undefined if it is unknown, has ended, or its time is over. */
  find(secret: string): Promise<Login | undefined>;
  end(secret: string): Promise<void>;
}

export function createLogins(redis: Redis): Logins {
  return {
    async open(login, lifeMs) {
      const secret = randomBytes(32).toString("base64url");
      await redis.set(keyOf(secret), JSON.stringify(login), "PX", lifeMs);
      return secret;
    },
    async find(secret) {
      const text = await redis.get(keyOf(secret));
      return text === null ? undefined : (JSON.parse(text) as Login);
    },
    async end(secret) {
      await redis.del(keyOf(secret));
    },
  };
}

/** A copy of the store opens no page: it has only the digests. */
function keyOf(secret: string): string {
  return keys.login(createHash("sha256").update(secret).digest("base64url"));
}
