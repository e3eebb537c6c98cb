/** The declared arguments of the commands that ask the broker: calls, results, lists. */

const json = { type: "boolean", description: "The answer as JSON", default: false } as const;
const log_id = {
  type: "positional",
  description: "The log_id that an earlier answer gave",
  required: true,
} as const;

/** How long `call` waits, s. */
export const DEFAULT_WAIT_S = 30;

export const call = {
  meta: { name: "call", description: "Calls a tool of a Unity Editor and waits for its outcome" },
  args: {
    tool: { type: "positional", description: "The tool, see `unity-broker tools`", required: true },
    json: {
      type: "string",
      description: "Its arguments as a JSON object; the answer is printed as JSON too",
    },
    args: { type: "string", description: "Its arguments as a JSON object; the answer is printed as text" },
    timeout: {
      type: "string",
      description: `Seconds to wait (default ${DEFAULT_WAIT_S}); then it goes on by itself`,
    },
    follow: { type: "boolean", description: "Wait until the end, with progress", default: false },
    pool: {
      type: "string",
      description: "Any Editor with these labels, for example android or android,linux",
    },
    editor: {
      type: "string",
      description: "The Editor: its project's name, its id, or the id's unique beginning",
    },
    "if-away": {
      type: "string",
      description: "While no Editor for it is connected: wait (the default), or refuse",
    },
    key: {
      type: "string",
      description: "Idempotency key: one operation per key, however often it is sent (for CI)",
    },
    "force-new": { type: "string", description: "The log_id of an operation of this call to supersede" },
  },
} as const;

export const result = {
  meta: { name: "result", description: "Shows an operation with its result" },
  args: {
    log_id,
    timeout: { type: "string", description: "Seconds to wait for its end (default 0)" },
    follow: { type: "boolean", description: "Wait until its end, with progress", default: false },
    json,
  },
} as const;

export const fetch = {
  meta: {
    name: "fetch",
    description: "Reads a stored result: all of it, a page, or what jq or fields make of it",
  },
  args: {
    id: {
      type: "positional",
      description: "A log_id or cache_id; none: lists your filtered results",
      required: false,
    },
    jq: { type: "string", description: "A jq program, such as '.hierarchy[].name'" },
    fields: { type: "string", description: "Only these fields of each item, by commas" },
    limit: { type: "string", description: "So many items at most" },
    offset: { type: "string", description: "Passes over so many items" },
    page: { type: "string", description: "One page of whole items, from 1" },
    "page-size": { type: "string", description: "Its size in kB (default 50)" },
    path: { type: "string", description: "The list to take items from, such as scene.roots[0].children" },
    info: { type: "boolean", description: "What it is, without reading it", default: false },
    json: { type: "boolean", description: "The whole answer as JSON", default: false },
  },
} as const;

export const status = {
  meta: { name: "status", description: "Says where an operation stands, without its result" },
  args: { log_id, json },
} as const;

export const cancel = {
  meta: {
    name: "cancel",
    description: "Cancels an operation that waits; asks the Editor to cancel one that runs",
  },
  args: { log_id, json },
} as const;

export const explain = {
  meta: {
    name: "explain",
    description: "Explains an operation: why it ran once, and who received its outcome",
  },
  args: { log_id, json },
} as const;

export const list = {
  meta: { name: "list", description: "Lists your operations, the latest first" },
  args: { limit: { type: "string", description: "How many at most (default 20, up to 100)" }, json },
} as const;

export const logs = {
  meta: {
    name: "logs",
    description: "Shows an operation's history and what the Unity Console said while it ran",
  },
  args: {
    log_id,
    follow: { type: "boolean", description: "Go on until it ends", default: false },
    json: { type: "boolean", description: "Each line as JSON", default: false },
  },
} as const;

export const watch = {
  meta: {
    name: "watch",
    description: "Shows Editors and operations as they change: a screen on a terminal, else lines",
  },
  args: {
    interval: { type: "string", description: "Seconds between two looks (default 1)" },
    limit: { type: "string", description: "How many operations (default 15, up to 100)" },
    json: { type: "boolean", description: "Each change as JSON", default: false },
  },
} as const;

/** An Editor starts nothing new for a while (src/cli/commands/pause.ts). */
export const PAUSES = ["pause", "drain", "resume"] as const;

export const editors = {
  meta: {
    name: "editors",
    description:
      "Lists the Unity Editors that the broker knows; `editors pause|drain|resume|claim|forget <editor>` is for one of them",
  },
  args: {
    action: {
      type: "positional",
      description:
        "pause: it starts nothing new; drain: the same, and wait until nothing runs there; resume: it does again; claim: take it over from another broker; forget: it will not come back",
      required: false,
    },
    editor: {
      type: "positional",
      description: "Its project's name, its id, or the id's unique beginning",
      required: false,
    },
    force: {
      type: "boolean",
      description:
        "claim: also while operations of the other broker are open there; forget: also while its worker waits for it",
      default: false,
    },
    json,
  },
} as const;

export const tools = {
  meta: { name: "tools", description: "Lists the tools of the Unity Editors" },
  args: { json },
} as const;

export const doctor = {
  meta: { name: "doctor", description: "Finds what is wrong, and says what fixes it" },
  args: {
    json: { type: "boolean", description: "The findings as JSON", default: false },
    security: { type: "boolean", description: "Who else could get in, and what closes it", default: false },
  },
} as const;
