/** What headers of a POST say: how long to wait (Prefer, RFC 7240), and which call it is (Idempotency-Key, the IETF's draft). */
import { BrokerError } from "../../shared/errors.js";

export interface Preference {
  /** Seconds; undefined: it says nothing. */
  waitSeconds: number | undefined;
  /** For Preference-Applied. */
  applied: string | undefined;
}

/** What it does not know, or cannot read, a server ignores (RFC 7240, 2). */
export function preferenceIn(prefer: string | string[] | undefined): Preference {
  const said = (Array.isArray(prefer) ? prefer.join(",") : (prefer ?? "")).split(",");
  const named = new Map(
    said.map((each) => {
      const [token = ""] = each.split(";");
      const [name = "", value = ""] = token.split("=").map((part) => part.trim());
      return [name.toLowerCase(), value.replace(/^"(.*)"$/, "$1")] as const;
    }),
  );
  const wait = named.get("wait");
  if (wait !== undefined && /^\d{1,9}$/.test(wait))
    return { waitSeconds: Number(wait), applied: `wait=${Number(wait)}` };
  return named.has("respond-async")
    ? { waitSeconds: 0, applied: "respond-async" }
    : { waitSeconds: undefined, applied: undefined };
}

/** A string in quotes (RFC 8941, 3.3.3), or what people send without them. Throws INVALID_ARGUMENTS. */
export function idempotencyKeyIn(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = String(header).trim();
  if (!text.startsWith('"')) {
    if (/^[\x21\x23-\x7e]{1,200}$/.test(text)) return text;
  } else if (/^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"$/.test(text)) {
    return text.slice(1, -1).replace(/\\(["\\])/g, "$1");
  }
  throw new BrokerError("INVALID_ARGUMENTS", 'Idempotency-Key is a string in quotes, such as "3f2a-build".');
}
