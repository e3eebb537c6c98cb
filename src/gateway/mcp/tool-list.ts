/** The list of tools as MCP clients see it, and word of its changes. */
import { type Tool as McpTool, ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import type { Log } from "../../shared/log.js";
import { offerParameters } from "../../shared/parameters.js";
import type { News } from "../../shared/redis/news.js";
import type { Broker } from "../broker.js";
import type { OfferedTool } from "../catalog.js";
import { BROKER_TOOLS } from "./broker-tools.js";

export interface ToolList {
  /** A principal's, sorted by name. Never waits for an Editor. */
  current(principal: string): Promise<McpTool[]>;
  /** Told when the list's content changed; returns the end of it. */
  onChange(listener: () => void): () => void;
  close(): void;
}

export function createToolList(
  deps: { broker: Pick<Broker, "tools">; news: News; log: Log },
  options: { debounceMs: number } = { debounceMs: 250 },
): ToolList {
  const listeners = new Set<() => void>();
  let known: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const listed = async (principal?: string): Promise<McpTool[]> => {
    const unity = (await deps.broker.tools(principal))
      .filter(({ name }) => !BROKER_TOOLS.has(name))
      .map(describe);
    const own = [...BROKER_TOOLS.values()].map(({ described }) => described);
    return [...unity, ...own].sort((a, b) => (a.name < b.name ? -1 : 1));
  };

  const compare = async (): Promise<void> => {
    try {
      const before = known;
      known = JSON.stringify(await listed());
      if (known === before) return;
      for (const listener of listeners) listener();
    } catch (error) {
      deps.log.warn({ error: (error as Error).message }, "the tool list could not be read");
    }
  };

  const baseline = listed().then(
    (tools) => {
      known ??= JSON.stringify(tools);
    },
    () => undefined,
  );
  const stop = deps.news.on("editors", () => {
    // Not restarted by further news: a chatty Editor must not put the word off for ever.
    timer ??= setTimeout(() => {
      timer = undefined;
      void baseline.then(compare);
    }, options.debounceMs);
  });

  return {
    current: listed,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      stop();
      clearTimeout(timer);
      listeners.clear();
    },
  };
}

/** Who says so comes first: what follows is an Editor's own text, which may say anything. */
function describe(tool: OfferedTool): McpTool {
  const { title, readOnlyHint, idempotentHint, destructiveHint, openWorldHint } = tool.annotations;
  const described = (inputSchema: Record<string, unknown>) => ({
    name: tool.name,
    ...(title === undefined ? {} : { title }),
    description: `[${editorsOf(tool)}] ${tool.description}`,
    inputSchema,
    // No outputSchema: the answer to a wait that ended would break it.
    annotations: withoutUndefined({ title, readOnlyHint, idempotentHint, destructiveHint, openWorldHint }),
  });
  const whole = described(offerParameters(tool));
  if (ToolSchema.safeParse(whole).success) return whole as McpTool;
  // One tool whose schema is none would make clients refuse the whole list.
  return described(offerParameters({ ...tool, inputSchema: { type: "object" } })) as McpTool;
}

/** So many are named. */
const NAMED_EDITORS = 3;

function editorsOf({ editors }: OfferedTool): string {
  const named = editors.slice(0, NAMED_EDITORS).join(", ");
  const more = editors.length - NAMED_EDITORS;
  return `Unity Editor${editors.length > 1 ? "s" : ""} ${named}${more > 0 ? ` and ${more} more` : ""}`;
}

function withoutUndefined<T extends object>(values: T): T {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;
}
