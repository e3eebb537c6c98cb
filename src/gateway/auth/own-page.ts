/** Which requests come from the gateway's own page: a browser sends a cookie with those of other pages too. */
import type { FastifyRequest } from "fastify";

/** The header that the own page sends with requests that have an effect; no other page's request can carry it. */
export const PAGE_HEADER = "x-unity-broker-page";

type Headers = FastifyRequest["headers"];

/**
 * May a request that is admitted by a cookie do this? Reads may; another page cannot see their answers. What has an effect
 * needs the header, which a page of another origin may send only after a question (CORS) that is never answered with yes.
 * SameSite does not replace it: it ignores ports, so every server of this machine is the same site as one on 127.0.0.1.
 */
export function mayAct({ method, headers }: Pick<FastifyRequest, "method" | "headers">): boolean {
  // A browser sends no header of ours with the request that opens a WebSocket, but always its Origin.
  if (headers.upgrade !== undefined) return headers.origin !== undefined && isOwnOrigin(headers);
  if (method === "GET" || method === "HEAD") return true;
  return headers[PAGE_HEADER] === "1" && isOwnOrigin(headers);
}

/** As far as the browser says: with host and port, and where it says so, from the very same origin. */
export function isOwnOrigin({ origin, host, "sec-fetch-site": site }: Headers): boolean {
  if (site !== undefined && site !== "same-origin") return false;
  if (origin === undefined) return true;
  try {
    return new URL(origin).host === host;
  } catch {
    return false;
  }
}
