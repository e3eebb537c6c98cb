/**
 * Reads every frame between workers and Editors as it passes the test's own cables: what was submitted under which id,
 * and what the Editors reported of its end. It believes no record of the broker.
 */
import { createFrameParser, parseRpc, type RpcId, type RpcMessage } from "../../../../src/shared/wire/rpc.js";
import type { Outcome } from "../../../../src/shared/wire/wire.js";
import type { CableListener } from "../../../harness/system/cable.js";

export interface Submitted {
  operationId: string;
  editor: string;
  tool: string;
  /** Names the call: the fingerprint of tool and arguments. */
  fingerprint: string;
}

export interface Witness {
  /** For a cable to this Editor. */
  listenerOf(editor: string): CableListener;
  submitted(operationId: string): Submitted | undefined;
  /** The first end that the Editor reported of each. */
  outcomes(): Iterable<[string, { editor: string; outcome: Outcome }]>;
  /** The Editor promised never to begin it. */
  wasRevoked(operationId: string): boolean;
  /** Connections to this Editor that ended in this time. */
  ends(editor: string, from: number, to: number): number;
  /** Connections on which somebody first said something to this Editor in this time. */
  begins(editor: string, from: number, to: number): number;
  /** What passed of this operation, for its story. */
  story(operationId: string): { at: number; event: string }[];
}

/** Larger than any frame of a test. */
const MAX_FRAME = 16 * 1024 * 1024;

export function createWitness(): Witness {
  const submits = new Map<string, Submitted>();
  const outcomes = new Map<string, { editor: string; outcome: Outcome }>();
  const revoked = new Set<string>();
  const stories = new Map<string, { at: number; event: string }[]>();
  const begun: { editor: string; at: number }[] = [];
  const ended: { editor: string; at: number }[] = [];

  const tell = (operationId: string, event: string): void => {
    const story = stories.get(operationId) ?? [];
    stories.set(operationId, story);
    story.push({ at: Date.now(), event });
  };
  const end = (editor: string, operationId: string, outcome: Outcome): void => {
    tell(operationId, `${editor} tells ${outcome.status} ${outcome.error?.type ?? ""}`);
    if (!outcomes.has(operationId)) outcomes.set(operationId, { editor, outcome });
  };

  const hear = (editor: string, line: LineReader, message: RpcMessage): void => {
    switch (message.kind) {
      case "request":
        asked(editor, line, message);
        break;
      case "notification":
        notified(editor, message);
        break;
      case "result": {
        const operationId = line.take(message.id);
        const answer = message.result as { state?: string; outcome?: Outcome; operationId?: string };
        if (operationId === undefined) break;
        tell(operationId, `${editor} answers ${answer.state} ${answer.operationId ?? ""}`);
        if (answer.state === "revoked") revoked.add(operationId);
        // `same_as` tells the end of the operation that it names.
        const ended = answer.state === "same_as" ? answer.operationId : operationId;
        if (answer.outcome && ended !== undefined) end(editor, ended, answer.outcome);
        break;
      }
      case "error": {
        const operationId = message.id === null ? undefined : line.take(message.id);
        const { code, message: why } = message.error;
        if (operationId !== undefined) tell(operationId, `${editor} refuses: ${code} ${why}`);
      }
    }
  };

  const asked = (editor: string, line: LineReader, request: RpcMessage & { kind: "request" }): void => {
    const params = (request.params ?? {}) as Record<string, unknown>;
    const { operationId, tool, argumentsHash } = params as Record<string, string | undefined>;
    if (operationId === undefined) return;
    line.asked.set(request.id, operationId);
    const after = "after" in params ? ` after ${String(params.after).slice(0, 8)}` : "";
    tell(operationId, `${editor} is asked: ${request.method}${after}`);
    if (tool === undefined || argumentsHash === undefined) return;
    submits.set(operationId, { operationId, editor, tool, fingerprint: argumentsHash });
  };

  const notified = (editor: string, { method, params }: RpcMessage & { kind: "notification" }): void => {
    const { operationId, outcome } = (params ?? {}) as { operationId?: string; outcome?: Outcome };
    if (operationId === undefined) return;
    if (method === "operation/finished" && outcome) end(editor, operationId, outcome);
    if (method === "operation/running") tell(operationId, `${editor} runs it`);
  };

  return {
    listenerOf(editor) {
      const lines = new Map<number, LineReader>();
      return {
        passed(connection, way, bytes) {
          let line = lines.get(connection);
          if (!line) {
            line = createLineReader();
            lines.set(connection, line);
            begun.push({ editor, at: Date.now() });
          }
          for (const text of line[way](bytes)) hear(editor, line, parseRpc(text));
        },
        ended(connection) {
          lines.delete(connection);
          ended.push({ editor, at: Date.now() });
        },
      };
    },
    submitted: (operationId) => submits.get(operationId),
    outcomes: () => outcomes,
    wasRevoked: (operationId) => revoked.has(operationId),
    begins: (editor, from, to) => begun.filter(isOf(editor, from, to)).length,
    ends: (editor, from, to) => ended.filter(isOf(editor, from, to)).length,
    story: (operationId) => stories.get(operationId) ?? [],
  };
}

const isOf = (editor: string, from: number, to: number) => (one: { editor: string; at: number }) =>
  one.editor === editor && one.at >= from && one.at <= to;

type LineReader = ReturnType<typeof createLineReader>;

/** Both ways of one connection, and the operations of the requests that are not answered. */
function createLineReader() {
  const asked = new Map<RpcId, string>();
  const read = () => {
    const parser = createFrameParser(MAX_FRAME);
    return function* (bytes: Buffer): Generator<string> {
      parser.push(bytes);
      for (let frame = parser.next(); frame; frame = parser.next())
        if (frame.kind === "message") yield frame.text;
    };
  };
  const take = (id: RpcId): string | undefined => {
    const operationId = asked.get(id);
    asked.delete(id);
    return operationId;
  };
  return { asked, take, out: read(), back: read() };
}
