/** A client of the REST API that says what a test chooses. */
import type { Answer } from "../../../src/shared/operation/answer.js";

export interface Said {
  status: number;
  headers: Headers;
  /** Undefined if the answer has no body. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the server says; the tests compare it.
  body: any;
}

export interface Asked {
  body?: unknown;
  /** Undefined leaves one out. */
  headers?: Record<string, string | undefined>;
  signal?: AbortSignal;
}

export interface RestClient {
  get(path: string, asked?: Asked): Promise<Said>;
  post(path: string, body?: unknown, asked?: Asked): Promise<Said>;
  ask(method: string, path: string, asked?: Asked): Promise<Said>;
  /** Calls a tool, and waits. */
  call(
    tool: string,
    args: Record<string, unknown>,
    more?: Record<string, unknown>,
  ): Promise<Said & { body: Answer }>;
}

/** `origin`: of the gateway. `always`: headers of every request. */
export function restClient(origin: string, always: Record<string, string> = {}): RestClient {
  const ask: RestClient["ask"] = async (method, path, { body, headers = {}, signal } = {}) => {
    const typed = method === "POST" ? { "content-type": "application/json" } : {};
    const given = Object.entries({ ...always, ...typed, ...headers });
    const answer = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: given.filter((entry): entry is [string, string] => entry[1] !== undefined),
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    const isStream = answer.headers.get("content-type")?.includes("event-stream") === true;
    const text = isStream ? await firstOf(answer) : await answer.text();
    const isJson = answer.headers.get("content-type")?.includes("json") === true;
    return {
      status: answer.status,
      headers: answer.headers,
      body: text === "" ? undefined : isJson ? (JSON.parse(text) as unknown) : text,
    };
  };
  const post: RestClient["post"] = (path, body, asked) => ask("POST", path, { ...asked, body });
  return {
    ask,
    post,
    get: (path, asked) => ask("GET", path, asked),
    call: (tool, args, more = {}) => post("/operations", { tool, arguments: args, timeout: 30, ...more }),
  };
}

/** What a stream begins with; it is not read any further. */
async function firstOf(answer: Response): Promise<string> {
  const reader = answer.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return new TextDecoder().decode(value);
}
