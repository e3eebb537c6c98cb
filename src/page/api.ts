/** Questions to /api/v1, with the browser's own login. */
import { becomes, connection } from "./connection.js";

const BASE = "/api/v1";

/** A caller of its own: what it names counts for no other client. */
const CLIENT = "operators-page";

/** A refusal: the message of the broker's own table, which says what to do next. */
class Refusal extends Error {
  readonly status: number;
  readonly code: string | undefined;

  constructor(status: number, code: string | undefined, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

export function get<Answer>(path: string, query?: URLSearchParams, signal?: AbortSignal): Promise<Answer> {
  const text = query?.toString() ?? "";
  return ask<Answer>("GET", `${path}${text === "" ? "" : `?${text}`}`, signal);
}

/** Something with an effect. */
export function act<Answer>(method: "POST" | "DELETE", path: string): Promise<Answer> {
  return ask<Answer>(method, path);
}

async function ask<Answer>(method: string, path: string, signal?: AbortSignal): Promise<Answer> {
  const effect = method === "GET" ? {} : { "x-unity-broker-page": "1", "content-type": "application/json" };
  let response: Response;
  try {
    response = await fetch(`${BASE}${path}`, {
      method,
      headers: { accept: "application/json", "x-client-id": CLIENT, ...effect },
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if ((error as Error).name !== "AbortError") becomes("lost");
    throw error;
  }
  if (response.status === 401) logIn();
  if (response.status === 503) becomes("lost");
  else if (connection().is === "lost" || connection().is === "connecting") becomes("asking");
  noteClock(response);
  const text = await response.text();
  if (response.ok) return json(text) as Answer;
  const { detail, message, title, error_code } = (json(text) ?? {}) as Partial<Record<string, string>>;
  const said = detail ?? message ?? title ?? `The gateway answered ${response.status}.`;
  throw new Refusal(response.status, error_code, said);
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The login leads back to where the reader is. */
function logIn(): void {
  const to = new URLSearchParams({ to: `${location.pathname}${location.search}` });
  location.assign(`/operators/login?${to}`);
}

export async function logOut(): Promise<void> {
  await fetch("/operators/logout", { method: "POST", headers: { "x-unity-broker-page": "1" } });
  location.assign("/operators/login");
}

let skewMs = 0;

/** A reader's clock may be wrong by minutes; the gateway says its own by the second. */
function noteClock(response: Response): void {
  const said = Date.parse(response.headers.get("date") ?? "");
  if (!Number.isFinite(said)) return;
  const skew = said - Date.now();
  skewMs = Math.abs(skew) > 2_000 ? skew : 0;
}

/** The gateway's time, ms since the epoch. */
export function now(): number {
  return Date.now() + skewMs;
}
