/** The command line as a client: one way to call the broker, whether it is a gateway elsewhere or made here. */
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js";
import type { Answer } from "../../shared/operation/answer.js";

export interface ProgressNote {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export interface CallOptions {
  onProgress?: (note: ProgressNote) => void;
  signal?: AbortSignal;
  /** An answer that takes longer is lost with its connection, ms: a stream that ended does not always say so. */
  limitMs?: number | undefined;
  /** MCP's `_meta`. */
  meta?: Record<string, unknown>;
  /** That of the answer, before it resolves; not called if the answer has none. */
  onMeta?: (meta: Record<string, unknown>) => void;
}

export interface BrokerClient {
  /** Rejects only where the broker cannot be reached; refusals are answers. */
  call(tool: string, args?: Record<string, unknown>, options?: CallOptions): Promise<Answer>;
  tools(): Promise<McpTool[]>;
  /** Some bytes of a stored result, from `offset`; none after its end. Rejects where there is no such result. */
  piece(id: string, offset: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** The answer, if it is no refusal, whose sentence it throws otherwise: for who reads a list in it. */
export function accepted<Given extends Partial<Answer>>(answer: Given): Given {
  if (answer.status === "error") throw new Error(answer.message);
  return answer;
}
