/**
 * A client whose runs are processes of their own, and that is one caller all the same: the command line. It names itself in
 * `initialize`, under `capabilities.experimental`, over any transport; and it says when a person, or a file, has the outcome,
 * so that one that dies before has not read it.
 */
import { createHash } from "node:crypto";
import type { Caller } from "./operation/operation.js";

const CAPABILITY = "unity-broker/caller";
const READ = "unity-broker/read";

/** `_meta` of a request by which such a client says that it has read the outcome of the operation that the request names. */
export const SAYS_READ = { [READ]: true };

/** Does a request with these parameters say so? */
export function saysRead(params: { _meta?: unknown } | undefined): boolean {
  return objectIn(params?._meta)[READ] === true;
}

/** What such a client declares. */
export function declaredCaller(name: string): { experimental: Record<string, { name: string }> } {
  return { experimental: { [CAPABILITY]: { name } } };
}

/** Who sends the requests of a session: the client under the name that it declares, else the session. */
export function callerOf(session: Caller, capabilities: { experimental?: unknown } | undefined): Caller {
  const { name } = objectIn(objectIn(capabilities?.experimental)[CAPABILITY]);
  if (typeof name !== "string" || name === "") return session;
  const id = createHash("sha256").update(name).digest("hex").slice(0, 32);
  return { id: `cli:${id}`, transport: session.transport, readsByName: true };
}

const objectIn = (value: unknown): Record<string, unknown> =>
  typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
