/** Checks the HTTP gateway at this command line's address: ours, another program, or nothing; and the token. */

import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { readLocalToken } from "../../gateway/auth/local-token.js";
import { isLoopback } from "../../gateway/http/loopback.js";
import { endOf } from "../../shared/machine/connection-filter.js";
import { isAnotherUsersServer, isOwnServer } from "../../shared/machine/peer-owner.js";
import { gatewayOriginOf } from "../gateway-origin.js";
import type { Settings } from "../processes/settings.js";
import { type Finding, ok, set, unset } from "./finding.js";

// Asks a gateway of this machine with this user's own token, which the process of another user must not get.

/**
 * The status of its answer. Any process that holds the port can answer as a gateway does: so the token is sent only on a connection
 * whose other end certainly is this user's or root's.
 */
async function askOwnGateway(
  url: string,
  token: string,
  answerMs: number,
): Promise<number | "another user's" | "unknown"> {
  const { protocol, hostname, port, pathname } = new URL(url);
  if (protocol !== "http:") return "unknown";
  const socket = connect({ host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || 80) });
  const signal = AbortSignal.timeout(answerMs);
  try {
    await once(socket, "connect", { signal });
    const ends = [endOf(socket, "local"), endOf(socket, "remote")] as const;
    if (isAnotherUsersServer(...ends)) return "another user's";
    if (!isOwnServer(...ends)) return "unknown";
    const asked = request({
      createConnection: () => socket,
      path: pathname,
      headers: { host: new URL(url).host, authorization: `Bearer ${token}` },
      signal,
    }).end();
    const [answer] = (await once(asked, "response", { signal })) as [IncomingMessage];
    return answer.statusCode ?? "unknown";
  } catch {
    return "unknown";
  } finally {
    socket.destroy();
  }
}

const ANSWER_MS = 3_000;
const NOBODY = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

export async function checkGateway(settings: Settings, self: string): Promise<Finding> {
  const { UNITY_BROKER_URL: url, UNITY_BROKER_HOST: host, UNITY_BROKER_PORT: port } = settings.config;
  const origin = url === undefined ? gatewayOriginOf(host, port) : new URL(url).origin;
  const isNeeded = url !== undefined || settings.config.UNITY_BROKER_TOKEN !== undefined;
  const health = await ask(`${origin}/healthz`);
  if (health === "nobody" || (health === "silence" && url !== undefined)) {
    if (!isNeeded) return ok("gateway", `none at ${origin}; clients over stdio need none`);
    const there = url === undefined ? { fix: `${self} up` } : { fix: unset("UNITY_BROKER_URL") };
    return { check: "gateway", state: "problem", says: `nobody answers at ${origin}`, ...there };
  }
  if (typeof health === "string" || !health.text.includes('"status":"ok"')) {
    const other = url === undefined ? set("UNITY_BROKER_PORT", String(port + 1)) : unset("UNITY_BROKER_URL");
    return { check: "gateway", state: "problem", says: `another program answers at ${origin}`, fix: other };
  }
  return checkToken(settings, origin, isNeeded, self);
}

/** Commands send only the configured token; this user's local token is not for other machines. */
async function checkToken(
  { config, localTokenFile }: Settings,
  origin: string,
  isNeeded: boolean,
  self: string,
): Promise<Finding> {
  const { UNITY_BROKER_TOKEN: given } = config;
  const isHere = isLoopback(new URL(origin).hostname);
  const local = isHere ? await readLocalToken(localTokenFile).catch(() => undefined) : undefined;
  const metrics = `${origin}/metrics`;
  const ofLocal = local === undefined ? "unknown" : await askOwnGateway(metrics, local, ANSWER_MS);
  const isRefused = async (): Promise<boolean> => {
    if (!isNeeded && local !== undefined) return ofLocal === "another user's" || ofLocal === 401;
    const asked = await ask(metrics, given);
    return typeof asked === "object" && asked.status === 401;
  };
  if (!(await isRefused())) return ok("gateway", `serves at ${origin}`);
  const next = "Ask its owner for a token (`unity-broker token create <name>`) and set UNITY_BROKER_TOKEN.";
  if (!isNeeded) {
    const says = `the gateway at ${origin} is another user's, or another data directory's`;
    return { check: "gateway", state: "warning", says, next };
  }
  return {
    check: "gateway",
    state: "problem",
    says:
      given === undefined
        ? `the gateway at ${origin} asks for a token, and UNITY_BROKER_TOKEN is not set`
        : `the gateway at ${origin} does not know the token in UNITY_BROKER_TOKEN`,
    ...(typeof ofLocal === "number" && ofLocal !== 401
      ? { fix: set("UNITY_BROKER_TOKEN", `$(${self} token local)`) }
      : { next }),
  };
}

/** It exists, but could not be used. */
export function notSpokenTo(error: unknown, { config }: Settings): Finding {
  const finding: Finding = { check: "gateway", state: "problem", says: (error as Error).message };
  const { pathname, origin } = new URL(config.UNITY_BROKER_URL ?? "http://here/mcp");
  return pathname === "/" ? { ...finding, fix: set("UNITY_BROKER_URL", `${origin}/mcp`) } : finding;
}

/** `silence`: nothing listens there, or it does not answer. `noise`: it does not speak HTTP. */
async function ask(
  url: string,
  token?: string,
): Promise<{ status: number; text: string } | "nobody" | "silence" | "noise"> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const { name, cause } = error as Error;
    if (name === "TimeoutError") return "silence";
    return NOBODY.has((cause as NodeJS.ErrnoException | undefined)?.code ?? "") ? "nobody" : "noise";
  }
}
