/** What a request of the REST API is answered with, and what a client that has it already is told. */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import type { Answer } from "../../shared/operation/answer.js";
import { isFinal } from "../../shared/operation/operation.js";

export interface RestAnswer {
  status: number;
  /** The value of a JSON text; undefined: nothing. */
  body?: unknown;
  /** Instead of `body`: its JSON text. */
  stream?: Readable;
  headers?: Record<string, string>;
  /** Its content type, if it is not application/json. */
  type?: string;
}

/** It changes with the operation, and belongs to one principal. */
export const NOT_KEPT = { "cache-control": "no-store" };

/** May be kept by the client that asked, if it asks each time whether it is still so. */
const ASKED_EACH_TIME = { "cache-control": "private, no-cache" };

/** What of an ended operation's answer tells the time of asking, and not the outcome. */
const OF_THE_MOMENT = ["age_seconds", "editor_changed_since", "delivery_confirmed"];

/** An ended operation stays as it is: a client that has read it is told so, without it. */
export function revalidated(answer: RestAnswer, ifNoneMatch: string | undefined): RestAnswer {
  const { state } = (answer.body ?? {}) as Partial<Answer>;
  if (answer.status !== 200 || state === undefined || !isFinal(state)) return answer;
  const lasting = Object.entries(answer.body as Answer).filter(([name]) => !OF_THE_MOMENT.includes(name));
  const etag = `"${createHash("sha256").update(JSON.stringify(lasting)).digest("base64url").slice(0, 27)}"`;
  return withEtag(answer, etag, ifNoneMatch);
}

export function withEtag(answer: RestAnswer, etag: string, ifNoneMatch: string | undefined): RestAnswer {
  const headers = { ...answer.headers, ...ASKED_EACH_TIME, etag };
  return isNamed(etag, ifNoneMatch) ? { status: 304, headers } : { ...answer, headers };
}

/** RFC 9110, 13.1.2: by weak comparison. */
export function isNamed(etag: string, ifNoneMatch: string | undefined): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  return (ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? []).some((each) => each.replace(/^W\//, "") === etag);
}
