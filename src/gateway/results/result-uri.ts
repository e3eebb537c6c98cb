/** The address of a stored result, or of a kept part, as an MCP resource: `unity-broker://results/<log_id>`. */

/** Subscriptions remember addresses: one is not longer than it has anything to say. */
const URI = /^unity-broker:\/\/results\/([\w-]{1,100})(?:\?(.{0,200}))?$/;

const ARTIFACT_URI = /^unity-broker:\/\/results\/([\w-]+)\/artifacts\/([^?#]+)$/;

/** RFC 6570. */
export const RESULT_TEMPLATE = "unity-broker://results/{log_id}{?offset,length}";
/** A small file that the result carries (results.ts). */
export const ARTIFACT_TEMPLATE = "unity-broker://results/{log_id}/artifacts/{+path}";

export function resourceOf(logId: string): { uri: string; name: string } {
  return { uri: `unity-broker://results/${logId}`, name: `result of ${logId}` };
}

export interface NamedResult {
  id: string;
  /** A piece of its bytes; undefined means all of it. */
  range: { offset: number; length: number | undefined } | undefined;
}

/** Undefined if it is not the address of a result. */
export function namedResult(uri: string): NamedResult | undefined {
  const [, id, query] = URI.exec(uri) ?? [];
  if (id === undefined) return undefined;
  const numbers = new URLSearchParams(query ?? "");
  const number = (name: string): number | undefined => {
    const text = numbers.get(name);
    return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const [offset, length] = [number("offset"), number("length")];
  const isRange = offset !== undefined || length !== undefined;
  return { id, range: isRange ? { offset: offset ?? 0, length } : undefined };
}

/** Undefined if the path, with half a surrogate pair, has none. */
export function artifactOf(logId: string, path: string): string | undefined {
  if (/\p{Surrogate}/u.test(path)) return undefined;
  return `unity-broker://results/${logId}/artifacts/${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** Undefined if it is not the address of a file. */
export function namedArtifact(uri: string): { id: string; path: string } | undefined {
  const [, id, path] = ARTIFACT_URI.exec(uri) ?? [];
  if (id === undefined || path === undefined) return undefined;
  try {
    return { id, path: decodeURIComponent(path) };
  } catch {
    return undefined;
  }
}
