/** The list of tools as MCP clients see it, and notifications of its changes. */
import type { Tool as McpTool } from "@modelcontextprotocol/server";
import type { Notifier } from "../../../shared/store/connect.js";
import type { Log } from "../../../shared/telemetry.js";
import { offerParameters } from "../../../shared/tools/call-rules.js";
import { portableSchema } from "../../../shared/tools/portable-schema.js";
import type { JsonObjectSchema } from "../../../shared/tools/tool.js";
import { WAITS, type WaitLimits } from "../../../shared/wait-time.js";
import type { Broker } from "../../broker.js";
import type { OfferedTool } from "../../catalog.js";
import { hintsOf } from "./broker-tool.js";
import { BROKER_TOOLS } from "./broker-tools.js";

export interface ToolList {
  /** The tools of a principal, sorted by name. Waits for first contact (first-contact.ts) and for nothing else. */
  current(principal: string): Promise<McpTool[]>;
  /** Whether there are several Editors to choose from, as far as the tools tell. */
  hasSeveralEditors(): boolean;
  /** Calls `listener` when the list's content changed; the returned function unsubscribes. */
  onChange(listener: () => void): () => void;
  close(): void;
}

export function createToolList(
  deps: { broker: Pick<Broker, "tools">; notifier: Pick<Notifier, "on">; log: Log; waits?: WaitLimits },
  options: { debounceMs: number } = { debounceMs: 250 },
): ToolList {
  const { waits = WAITS } = deps;
  const listeners = new Set<() => void>();
  let isOfSeveral = false;
  let known: string | undefined;
  let timer: NodeJS.Timeout | undefined;

  const listed = async (principal?: string): Promise<McpTool[]> => {
    const offered = (await deps.broker.tools(principal)).filter(({ name }) => !BROKER_TOOLS.has(name));
    const several = new Set(offered.flatMap(({ editors }) => editors)).size > 1;
    if (principal === undefined) isOfSeveral = several;
    const unity = offered.flatMap((tool) => {
      const portable = portableSchema(tool);
      // Who looks at its Editor sees why (call-rules.ts).
      if ("reason" in portable) return [];
      return [describe(tool, offerParameters(tool, { several, waits }, portable.inputSchema), several)];
    });
    const own = [...BROKER_TOOLS.values()].map(({ described }) => described(waits));
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
  const compareSoon = (): void => {
    // Not restarted by further messages: a chatty Editor must not postpone the notification for ever.
    timer ??= setTimeout(() => {
      timer = undefined;
      void baseline.then(compare);
    }, options.debounceMs);
  };
  const stop = deps.notifier.on("editors", compareSoon, compareSoon);

  return {
    // What was listed before the baseline was read could change in between, unnoticed by the client.
    async current(principal) {
      await baseline;
      return listed(principal);
    },
    hasSeveralEditors: () => isOfSeveral,
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

/** Begins with the broker's own words; the rest is the Editor's text, which may say anything. `several`: Editors to choose from. */
function describe(tool: OfferedTool, inputSchema: JsonObjectSchema, several: boolean): McpTool {
  const { title = tool.name } = tool.annotations;
  return {
    name: tool.name,
    ...(title === tool.name ? {} : { title }),
    description: `[${several ? editorsOf(tool) : "Unity"}] ${tool.description}`,
    inputSchema: inputSchema as McpTool["inputSchema"],
    // No outputSchema: the answer after a wait has ended would violate it.
    annotations: hintsOf(tool.annotations),
  };
}

/** Most Editors named. */
const NAMED_EDITORS = 3;

function editorsOf({ editors }: OfferedTool): string {
  const named = editors.slice(0, NAMED_EDITORS).join(", ");
  const more = editors.length - NAMED_EDITORS;
  return `Unity Editor${editors.length > 1 ? "s" : ""} ${named}${more > 0 ? ` and ${more} more` : ""}`;
}
