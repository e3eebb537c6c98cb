/** The page's addresses: every view, and what it is filtered by, can be saved and sent to somebody. Pure. */

export type Place =
  | { view: "editors" | "operations" | "pools" | "clients" | "audit"; query: URLSearchParams }
  | { view: "operation"; logId: string };

const BASE = "/operators";
const VIEWS = ["editors", "operations", "pools", "clients", "audit"] as const;

export function placeOf(path: string, search: string): Place {
  const [, first = "", second = ""] = /^\/operators\/?([^/]*)\/?([^/]*)/.exec(path) ?? [];
  if (first === "operations" && second !== "") return { view: "operation", logId: decoded(second) };
  const view = VIEWS.find((name) => name === first) ?? "editors";
  return { view, query: new URLSearchParams(search) };
}

export function addressOf(view: string, query?: URLSearchParams): string {
  const text = query?.toString() ?? "";
  return `${BASE}/${view}${text === "" ? "" : `?${text}`}`;
}

export function operationAddress(logId: string): string {
  return `${BASE}/operations/${encodeURIComponent(logId)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What a list of operations may be filtered by, in the order of the address. */
const FILTERS = ["q", "state", "tool", "editor", "principal", "client", "since", "until"] as const;

/** Only what is known, and only what is set. */
export function filterOf(query: URLSearchParams): URLSearchParams {
  const filter = new URLSearchParams();
  for (const name of FILTERS) {
    const value = query.get(name)?.trim();
    if (value) filter.set(name, value);
  }
  return filter;
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** "-24h" is relative, so that a saved filter stays true; anything else is a time. Undefined: neither. */
export function timeOf(text: string, now: number): string | undefined {
  const [, amount, unit = ""] = /^-(\d{1,5})([mhd])$/.exec(text) ?? [];
  const ms = amount === undefined ? Date.parse(text) : now - Number(amount) * (UNITS[unit] ?? 0);
  return Number.isFinite(ms) ? new Date(ms).toISOString() : undefined;
}
