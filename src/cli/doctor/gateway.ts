/** The HTTP gateway where this command line would look for it: ours, another program, or nobody; and the token. */
import { readLocalToken } from "../../gateway/auth/local-token.js";
import type { Settings } from "../runtime.js";
import { type Finding, ok, set, unset } from "./finding.js";

const ANSWER_MS = 3_000;

export async function checkGateway(settings: Settings, self: string): Promise<Finding> {
  const { UNITY_BROKER_URL: url, UNITY_BROKER_HOST: host, UNITY_BROKER_PORT: port } = settings.config;
  const origin = url === undefined ? `http://${host}:${port}` : new URL(url).origin;
  const isNeeded = url !== undefined || settings.config.UNITY_BROKER_TOKEN !== undefined;
  const health = await ask(`${origin}/healthz`);
  if (health === undefined) {
    if (!isNeeded) return ok("gateway", `none at ${origin}; clients over stdio need none`);
    const there = url === undefined ? { mend: `${self} up` } : { mend: unset("UNITY_BROKER_URL") };
    return { check: "gateway", state: "problem", says: `nobody answers at ${origin}`, ...there };
  }
  if (!health.text.includes('"status":"ok"')) {
    const other = url === undefined ? set("UNITY_BROKER_PORT", String(port + 1)) : unset("UNITY_BROKER_URL");
    return { check: "gateway", state: "problem", says: `another program answers at ${origin}`, mend: other };
  }
  const token = settings.config.UNITY_BROKER_TOKEN ?? (await readLocalToken(settings.localTokenFile));
  const asked = await ask(`${origin}/metrics`, token);
  if (asked?.status !== 401) return ok("gateway", `serves at ${origin}`);
  if (settings.config.UNITY_BROKER_TOKEN === undefined) {
    return {
      check: "gateway",
      state: "warning",
      says: `the gateway at ${origin} is another user's, or another data directory's`,
      next: "Ask its owner for a token (`unity-broker token create <name>`) and set UNITY_BROKER_TOKEN.",
    };
  }
  return {
    check: "gateway",
    state: "problem",
    says: `the gateway at ${origin} does not know the token in UNITY_BROKER_TOKEN`,
    mend: set("UNITY_BROKER_TOKEN", `$(${self} token local)`),
  };
}

async function ask(url: string, token?: string): Promise<{ status: number; text: string } | undefined> {
  try {
    const response = await fetch(url, {
      signal: AbortSignal.timeout(ANSWER_MS),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    // Somebody listens there, but does not speak HTTP or does not answer.
    const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
    return code === "ECONNREFUSED" || code === "ENOTFOUND" ? undefined : { status: 0, text: "" };
  }
}
