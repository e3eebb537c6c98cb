/**
 * What `REDIS_URL` may be: `redis://` and `rediss://` (TLS) name a server, `redis+sentinel://host:port,host:port/name` the
 * Sentinels that know the present master of that name.
 */

export interface HostAndPort {
  host: string;
  port: number;
}

export interface RedisUrl {
  /** One server, or the Sentinels. */
  hosts: readonly [HostAndPort, ...HostAndPort[]];
  /** The name by which the Sentinels know the master; undefined: it names a server. */
  masterName: string | undefined;
  username: string;
  /** Of the server; Sentinels are asked without one. */
  password: string;
  db: number;
  isTls: boolean;
  /** As it was given, without user and password. */
  shown: string;
}

/** Quotes nothing: it may hold a password, and a / or # in the password is the usual mistake. */
export const NO_REDIS_URL =
  "is not a URL such as redis://:password@127.0.0.1:6379 or redis+sentinel://:password@host1:26379,host2:26379/name-of-the-master (in a password write / as %2F, # as %23)";

const SENTINEL = "redis+sentinel:";
/** A URL has one host: the Sentinels after the first are taken out before it is parsed. */
const SENTINELS = /^(redis\+sentinel:\/\/(?:[^/@]*@)?[^/@,]+),([^/@]+)(?=\/|$)/;
/** Up to the end of the host. */
const AUTHORITY = /^[^/]+\/\/[^/]+/;

/** Throws TypeError where the text is no such URL. */
export function readRedisUrl(text: string): RedisUrl {
  const { url, others } = parse(text);
  // A password with a /, as in user:12/34@host, ends the host: the rest of it would be shown, and the wrong host asked.
  if (url.pathname.includes("@")) throw new TypeError("there is a / before its host");
  const isSentinel = url.protocol === SENTINEL;
  if (!isSentinel && url.protocol !== "redis:" && url.protocol !== "rediss:")
    throw new TypeError("it names no server of Redis");
  const [first = "", second = ""] = url.pathname.slice(1).split("/");
  if (isSentinel && first === "") throw new TypeError("it names no master");
  const hostOf = ({ hostname, port }: URL): HostAndPort => ({
    host: hostname.replace(/^\[(.*)\]$/, "$1"),
    port: Number(port || (isSentinel ? 26379 : 6379)),
  });
  return {
    hosts: [hostOf(url), ...others.map((other) => hostOf(new URL(`redis://${other}`)))],
    masterName: isSentinel ? decodeURIComponent(first) : undefined,
    username: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    db: Number(isSentinel ? second : first) || 0,
    isTls: url.protocol === "rediss:",
    shown: `${url.protocol}//${[url.host, ...others].join(",")}${url.pathname}`,
  };
}

export function isRedisUrl(text: string): boolean {
  try {
    readRedisUrl(text);
    return true;
  } catch {
    return false;
  }
}

/** The same URL with this password. Throws TypeError as `readRedisUrl`. */
export function withPassword(text: string, password: string): string {
  const { url, others } = parse(text);
  url.password = encodeURIComponent(password);
  return url.href.replace(AUTHORITY, (one) => [one, ...others].join(","));
}

function parse(text: string): { url: URL; others: string[] } {
  const [whole = "", first = "", others = ""] = SENTINELS.exec(text) ?? [];
  return {
    url: new URL(first + text.slice(whole.length)),
    others: others === "" ? [] : others.split(","),
  };
}
