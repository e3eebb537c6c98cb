/**
 * The closed table of errors: every refusal and every failed outcome that a caller can see is listed here.
 * A test checks docs/reference/errors.md against it in both directions.
 */

/** May a caller send the same call again? `never` as it stands, `safe`: nothing ran, `ask`: a person decides. */
export type Retry = "never" | "safe" | "ask";

interface ErrorLine {
  /** HTTP status for surfaces over HTTP. */
  http: number;
  /** JSON-RPC code, used when the error answers a request instead of being a tool's result. */
  rpc: number;
  retry: Retry;
  /** What to do next; appended to the description of what happened. */
  next: string;
}

export const ERRORS = {
  NO_EDITOR: {
    http: 503,
    rpc: -32001,
    retry: "safe",
    next: "Open the project in Unity with the bridge installed (or start `unity-broker simulate`), check list_editors, then send the call again. Nothing was executed.",
  },
  EDITOR_AMBIGUOUS: {
    http: 409,
    rpc: -32602,
    retry: "safe",
    next: "Name one of the candidates in the `editor` argument, or choose one for this session with select_editor. Nothing was executed.",
  },
  EDITOR_UNKNOWN: {
    http: 404,
    rpc: -32602,
    retry: "safe",
    next: "Use a project's name, an id (or its unique beginning, with the @), or pool:<labels>, from list_editors. Nothing was executed.",
  },
  EDITORS_NOT_BACK: {
    http: 503,
    rpc: -32001,
    retry: "safe",
    next: "Ask the user to open them in Unity, or name a connected Editor in the `editor` argument; remove one that is gone for good with `unity-broker editors forget <editor>`. Nothing was executed.",
  },
  EDITOR_AWAY: {
    http: 503,
    rpc: -32001,
    retry: "safe",
    next: "Open the project in Unity, then send the call again; without `if_away` (UNITY_BROKER_IF_AWAY) it waits for the Editor. Nothing was executed.",
  },
  EDITOR_CONNECTED: {
    http: 409,
    rpc: -32602,
    retry: "never",
    next: "Nothing was changed.",
  },
  UNKNOWN_TOOL: {
    http: 404,
    rpc: -32602,
    retry: "never",
    next: "Take a name from tools/list or list_unity_tools; right after Redis lost its data, wait a second and send the call again. Nothing was executed.",
  },
  INVALID_ARGUMENTS: {
    http: 400,
    rpc: -32602,
    retry: "never",
    next: "Fix the arguments. Nothing was executed.",
  },
  INTEGER_TOO_LARGE: {
    http: 400,
    rpc: -32602,
    retry: "never",
    next: "Integers beyond 2^53 lose digits in JSON: send the value as a string. Nothing was executed.",
  },
  ARGUMENTS_TOO_DEEP: {
    http: 400,
    rpc: -32602,
    retry: "never",
    next: "Flatten the arguments to at most 200 levels; nothing was executed.",
  },
  ARGUMENTS_TOO_LARGE: {
    http: 413,
    rpc: -32602,
    retry: "never",
    next: "Write the data to a file in the project and pass its path; nothing was executed.",
  },
  INVALID_TIMEOUT: {
    http: 400,
    rpc: -32602,
    retry: "never",
    next: "`timeout` is a number of seconds from 0; nothing was executed.",
  },
  NOT_FOUND: {
    http: 404,
    rpc: -32602,
    retry: "never",
    next: "Use the log_id exactly as in the answer; list_operations lists yours, newest first.",
  },
  IDEMPOTENCY_CONFLICT: {
    http: 409,
    rpc: -32602,
    retry: "never",
    next: "Use a new idempotency_key for another call, or repeat the first call's tool and arguments. Nothing was executed.",
  },
  RECORD_LOST: {
    http: 409,
    rpc: -32603,
    retry: "ask",
    next: "It may have run in part or in whole, and is not run again automatically. Check the project's state, then run it again with the force_new value if that is right.",
  },
  TOO_MANY_OPERATIONS: {
    http: 429,
    rpc: -32003,
    retry: "safe",
    next: "Wait for some of them (list_operations shows them) or cancel those that are not needed, then send the call again. Nothing was executed.",
  },
  QUEUE_FULL: {
    http: 429,
    rpc: -32003,
    retry: "safe",
    next: "Send the call again after `retry_after_seconds`, or to another Editor or pool (list_editors). Nothing was executed.",
  },
  RATE_LIMITED: {
    http: 429,
    rpc: -32003,
    retry: "safe",
    next: "Wait a second, then send it again: one call that waits (`timeout`, or get_operation_result with wait: true) needs fewer requests than polling. Nothing was executed.",
  },
  TOOL_FAILED: {
    http: 200,
    rpc: -32603,
    retry: "ask",
    next: "The call ran in the Editor and ended with this error. Fix its cause, then call again.",
  },
  EDITOR_REFUSED: {
    http: 200,
    rpc: -32603,
    retry: "ask",
    next: "The Editor refused the call before it began: nothing was executed. Do what its message says; for `security_blocked` ask the user to allow it in Window > Unity Job Broker.",
  },
  OUTCOME_UNKNOWN: {
    http: 200,
    rpc: -32603,
    retry: "ask",
    next: "It may have run in part or in whole, and is not run again automatically. Check the project's state, then run it again with the force_new value if that is right.",
  },
  EXPIRED: {
    http: 200,
    rpc: -32603,
    retry: "safe",
    next: "It never started. Open the project in Unity, then send the call again.",
  },
  RESULT_TOO_LARGE: {
    http: 200,
    rpc: -32603,
    retry: "never",
    next: "One message cannot carry it. It stays stored under its log_id: read it in part with fetch_cached_response.",
  },
  FETCH_FAILED: {
    http: 422,
    rpc: -32603,
    retry: "never",
    next: "Nothing was executed, and the result is still stored. Take a smaller part of it: a page, some fields, or a narrower filter.",
  },
  STORE_UNAVAILABLE: {
    http: 503,
    rpc: -32002,
    retry: "safe",
    next: "Redis does not answer. Send the same call again when it is back: if the broker had accepted it, it is found, not executed twice.",
  },
  BROKER_ENDED: {
    http: 503,
    rpc: -32002,
    retry: "safe",
    next: "Nothing was executed. Send the call again: another broker is started for it.",
  },
  GIVEN_UP: {
    http: 408,
    rpc: -32002,
    retry: "safe",
    next: "Nothing was executed. Send the call again if it is still wanted.",
  },
  STORE_FULL: {
    http: 507,
    rpc: -32002,
    retry: "safe",
    next: "Nothing was executed. Results and arguments are removed when their retention ends; an operator makes room at once with a larger UNITY_BROKER_RESULTS_BUDGET_MB, UNITY_BROKER_ARGUMENTS_BUDGET_MB or UNITY_BROKER_PRINCIPAL_SHARE (or maxmemory of that Redis), or a shorter UNITY_BROKER_RETENTION_HOURS for later operations. Then send the same call again.",
  },
  STORE_UNREACHABLE: {
    http: 503,
    rpc: -32002,
    retry: "never",
    next: "Start that Redis or fix REDIS_URL, then start the broker again; without REDIS_URL a private Redis is used.",
  },
  STORE_UNFIT: {
    http: 503,
    rpc: -32002,
    retry: "never",
    next: "Fix the configuration of Redis. A broker that runs then accepts calls again by itself; one that did not start must be started again. Nothing was executed.",
  },
  REDIS_UNAVAILABLE: {
    http: 503,
    rpc: -32002,
    retry: "never",
    next: "Install a Redis as listed, then start the command again.",
  },
  REDIS_START_FAILED: {
    http: 503,
    rpc: -32002,
    retry: "never",
    next: "The private Redis can be ended with `unity-broker down`; REDIS_URL uses another one.",
  },
  PORT_IN_USE: {
    http: 503,
    rpc: -32603,
    retry: "never",
    next: "Choose another port with --port, or end the program that holds it.",
  },
  ADDRESS_REFUSED: {
    http: 403,
    rpc: -32603,
    retry: "never",
    next: "Use 127.0.0.1, ::1 or localhost. To serve other machines, make a token with `unity-broker token create <name>`, then start the gateway with --host.",
  },
  UNAUTHORIZED: {
    http: 401,
    rpc: -32003,
    retry: "never",
    next: "Send `Authorization: Bearer <token>`: on this machine the one that `unity-broker token local` shows, elsewhere one from `unity-broker token create <name>`. Nothing was executed.",
  },
  LOGIN_REFUSED: {
    http: 401,
    rpc: -32003,
    retry: "never",
    next: "On the gateway's machine `unity-broker token local` shows this user's token; elsewhere ask the operator for one (`unity-broker token create <name>`).",
  },
  TOO_MANY_LOGINS: {
    http: 429,
    rpc: -32003,
    retry: "safe",
    next: "Wait a minute, or log in with a token of this gateway.",
  },
  CROSS_SITE_REQUEST: {
    http: 403,
    rpc: -32003,
    retry: "never",
    next: "Act on the gateway's own page; a program sends `Authorization: Bearer <token>` instead of a cookie. Nothing was executed.",
  },
  FORBIDDEN: {
    http: 403,
    rpc: -32003,
    retry: "never",
    next: "Ask the operator of this gateway: `unity-broker token set <name>` changes what a principal may do. Nothing was executed.",
  },
  NOT_CONFIRMED: {
    http: 403,
    rpc: -32003,
    retry: "ask",
    next: "Nothing was executed. Ask the user what to do instead; the same call asks again.",
  },
  TOKEN_REFUSED: {
    http: 409,
    rpc: -32602,
    retry: "never",
    next: "Choose another name (letters, digits, . _ @ -). `unity-broker token add <name>` gives a principal a further token, `unity-broker token list` lists the principals.",
  },
  TOKENS_UNREADABLE: {
    http: 503,
    rpc: -32002,
    retry: "never",
    next: "Fix or remove that file; until then every request is refused.",
  },
  INTERNAL: {
    http: 500,
    rpc: -32603,
    retry: "ask",
    next: "This is a defect of the broker; its log has the details. The operation, if one was accepted, goes on.",
  },
} as const satisfies Record<string, ErrorLine>;

export type ErrorCode = keyof typeof ERRORS;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** A refusal: what happened, then what to do next (from the table); `details` are for programs. */
export class BrokerError extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, what: string, details: Record<string, unknown> = {}, cause?: unknown) {
    const { next } = ERRORS[code];
    // The message of an answer says it already.
    super(what.endsWith(next) ? what : `${what} ${next}`.trim(), cause === undefined ? undefined : { cause });
    this.name = "BrokerError";
    this.code = code;
    this.details = details;
  }
}
