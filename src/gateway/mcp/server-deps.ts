/** What the MCP servers of every protocol revision are made of. */
import type { Exchanges } from "../exchange.js";
import type { ProgressOptions } from "./progress-notifier.js";
import type { CallToolDeps } from "./requests/call-tool.js";
import type { ToolList } from "./tools/tool-list.js";

export interface McpServerDeps extends CallToolDeps {
  exchanges: Pick<Exchanges, "open">;
  toolList: ToolList;
  version: string;
  progress?: ProgressOptions | undefined;
}
