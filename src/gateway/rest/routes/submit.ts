/** POST of operations: a call becomes one, or finds the one that it repeats. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { BrokerError } from "../../../shared/errors.js";
import type { Log } from "../../../shared/telemetry.js";
import { IF_AWAY } from "../../../shared/tools/call-rules.js";
import type { WaitLimits } from "../../../shared/wait-time.js";
import type { Principals } from "../../auth/authenticator.js";
import type { Broker } from "../../broker.js";
import { callUnityTool } from "../../mcp/requests/call-tool.js";
import type { RestCall, RestExchanges } from "../exchange.js";
import { submittedAnswer } from "../operation-answer.js";
import { problemFrom } from "../problem.js";
import type { RestAnswer } from "../rest-answer.js";
import { addRoute, json } from "../route.js";
import { Operation } from "../schemas/answer.js";
import { anyObject, named } from "../schemas/described.js";

// What headers of a POST say: how long to wait (Prefer, RFC 7240), and which call it is (Idempotency-Key, the IETF's draft).

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

export interface RouteDeps {
  broker: Broker;
  /** Who has which name; undefined: everybody may do everything. */
  principals: Principals | undefined;
  exchanges: RestExchanges;
  waits: WaitLimits;
  log: Log;
}

export const Call = named(
  "Call",
  z.strictObject({
    tool: z.string().min(1).max(200).describe("Its name, from /tools."),
    arguments: anyObject.default({}).describe("The tool's own arguments."),
    editor: z
      .string()
      .optional()
      .describe("A project's name, an id (or its unique beginning, with the @), or pool:<labels>."),
    timeout: z
      .number()
      .min(0)
      .optional()
      .describe("Seconds to wait for the outcome. It goes before Prefer. A wait that ends changes nothing."),
    idempotency_key: z.string().min(1).max(200).optional().describe("Or the header Idempotency-Key."),
    force_new: z.string().optional().describe("Runs a call again: the log_id that it supersedes."),
    if_away: z.enum(IF_AWAY).optional().describe("What becomes of it while its Editor is not connected."),
  }),
);

const Headers = z.object({
  "idempotency-key": z.string().optional().describe('Which call it is: "a string of your choice".'),
  prefer: z.string().optional().describe("respond-async, or wait=<seconds>."),
  "x-client-id": z.string().optional().describe("What the program calls itself."),
});

export function submitRoutes(app: FastifyInstance, deps: RouteDeps): void {
  const described = {
    method: "POST",
    tag: "operations",
    body: Call,
    headers: Headers,
    errors: [
      "INVALID_TIMEOUT",
      "INTEGER_TOO_LARGE",
      "ARGUMENTS_TOO_DEEP",
      "ARGUMENTS_TOO_LARGE",
      "FORBIDDEN",
      "UNKNOWN_TOOL",
      "EDITOR_UNKNOWN",
      "EDITOR_AMBIGUOUS",
      "NO_EDITOR",
      "EDITOR_AWAY",
      "EDITORS_NOT_BACK",
      "IDEMPOTENCY_CONFLICT",
      "RECORD_LOST",
      "TOO_MANY_OPERATIONS",
      "QUEUE_FULL",
      "STORE_FULL",
      "STORE_UNFIT",
    ],
  } as const;
  const ended = json("It has ended: status says how.", Operation);
  const goesOn = json("It goes on: read it at Location, after Retry-After seconds.", Operation);
  addRoute(app, deps.exchanges, {
    ...described,
    url: "/operations",
    summary: "Calls a tool of an Editor",
    description:
      "The same call again finds its operation and runs nothing: answers say `deduplicated` then. Whether it runs again is said in docs/guide/calls.md.",
    answers: { 200: ended, 202: goesOn },
    handle: ({ body, headers }, call) => submit(deps, body, headers, call),
  });
  addRoute(app, deps.exchanges, {
    ...described,
    url: "/react/execute",
    summary: "The same as POST /operations",
    tag: "other names",
    answers: { 200: ended, 202: goesOn },
    handle: ({ body, headers }, call) => submit(deps, body, headers, call),
  });
  addRoute(app, deps.exchanges, {
    ...described,
    url: "/react/execute/async",
    summary: "The same as POST /operations with timeout 0",
    tag: "other names",
    answers: { 200: ended, 202: goesOn },
    handle: ({ body, headers }, call) => submit(deps, { ...body, timeout: 0 }, headers, call),
  });
}

export async function submit(
  { broker, waits, log }: RouteDeps,
  { tool, arguments: args, ...given }: z.output<typeof Call>,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  { principal, clientId, request }: RestCall,
): Promise<RestAnswer> {
  // Nobody is answered any more, and nothing begins.
  if (!(await request.isAwaited())) return { status: 408 };
  const key = idempotencyKeyIn(headers["idempotency-key"]);
  if (key !== undefined && given.idempotency_key !== undefined && key !== given.idempotency_key)
    throw new BrokerError("INVALID_ARGUMENTS", "Idempotency-Key and idempotency_key differ.");
  const prefer = preferenceIn(headers.prefer);
  const isApplied = given.timeout === undefined && prefer.applied !== undefined;
  const parameters = {
    ...given,
    ...(key === undefined ? {} : { idempotency_key: key }),
    ...(isApplied ? { timeout: prefer.waitSeconds } : {}),
  };
  let logId: string | undefined;
  try {
    const answer = await callUnityTool(
      { broker, waits },
      { name: tool, arguments: args, _meta: parameters },
      {
        principal: principal.id,
        client: clientId === undefined ? undefined : { name: clientId, version: "" },
        request,
        selection: undefined,
        folders: [],
        progress: undefined,
        askUser: undefined,
      },
      (id) => {
        logId = id;
      },
    );
    const answered = submittedAnswer(answer);
    const applied = isApplied ? { "preference-applied": String(prefer.applied) } : {};
    return { ...answered, headers: { ...answered.headers, ...applied } };
  } catch (error) {
    return problemFrom(error, log, logId);
  }
}
