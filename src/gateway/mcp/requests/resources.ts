/** Stored results as MCP resources: JSON as text, pictures and small files as such, and pieces of results too large for one message. */
import { isUtf8 } from "node:buffer";
import type {
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from "@modelcontextprotocol/server";
import { DocumentError } from "../../../documents/document-error.js";
import { wellFormedJson } from "../../../shared/printable.js";
import type { Log } from "../../../shared/telemetry.js";
import { RPC_INTERNAL_ERROR, RPC_INVALID_PARAMS } from "../../../shared/wire/rpc.js";
import type { Broker } from "../../broker.js";
import {
  ARTIFACT_TEMPLATE,
  namedArtifact,
  namedResult,
  RESULT_TEMPLATE,
  resourceOf,
} from "../../results/result-uri.js";
import { binaryOf, contentAt, contentOf, MOST_BYTES, type Source } from "../../results/results.js";
import { ProtocolError } from "../protocol-error.js";
import type { OpenRequest } from "../request-tracker.js";
import { UUID } from "../tools/broker-tool.js";
import { refusalError } from "../tools/tool-answer.js";
import { readState, STATE_RESOURCES, STATE_TEMPLATES } from "./state-resources.js";

const JSON_TYPE = "application/json";
/** Most bytes of one piece: its base64 fits into a message. */
const MOST_PIECE = 4 * 1024 * 1024;
/** Most bytes of a text in a message of at most 8 MiB. */
const MOST_MESSAGE = 7 * 1024 * 1024;
const LISTED = 50;
/** MCP's code for an unknown resource. */
const NOT_FOUND = -32002;

interface Deps {
  broker: Broker;
  log: Log;
}

export function listResourceTemplates(): ListResourceTemplatesResult {
  return {
    resourceTemplates: [
      {
        uriTemplate: RESULT_TEMPLATE,
        name: "result",
        title: "Result of an operation",
        description: `The stored result under a log_id or cache_id: JSON as text, or its pictures. offset and length (at most ${MOST_PIECE}) read a piece of its bytes, which is how a result beyond ${MOST_BYTES} bytes is read.`,
        mimeType: JSON_TYPE,
      },
      {
        uriTemplate: ARTIFACT_TEMPLATE,
        name: "artifact",
        title: "Small file of a result",
        description: "A file that a tool put into its result, such as build-player with IncludeFilesUpTo.",
      },
      ...STATE_TEMPLATES,
    ],
  };
}

export function listResources({ broker, log }: Deps, principal: string): Promise<ListResourcesResult> {
  return refusing(log, async () => {
    const views = await broker.list(principal, LISTED);
    const stored = views.filter(({ record }) => record.resultBytes !== undefined);
    const results = stored.map(({ record: { logId, tool, editor, resultBytes } }) => ({
      ...resourceOf(logId),
      title: `${tool} on ${editor}`,
      mimeType: JSON_TYPE,
      size: resultBytes,
    }));
    return { resources: [...STATE_RESOURCES, ...results] };
  });
}

/** A request for a resource. */
export interface ResourceRead {
  principal: string;
  uri: string;
  request: OpenRequest;
}

export function readResource({ broker, log }: Deps, read: ResourceRead): Promise<ReadResourceResult> {
  const { principal, uri, request } = read;
  return refusing(log, async () => {
    const artifact = namedArtifact(uri);
    if (artifact) return readFile(broker, read, artifact);
    const named = namedResult(uri);
    const source = named && UUID.test(named.id) ? await resultIn(broker, principal, named.id) : undefined;
    if (!named || !source) {
      const state = named ? undefined : await readState(broker, read);
      if (state === undefined)
        throw new ProtocolError(NOT_FOUND, "There is no such resource of yours.", { uri });
      return { contents: [{ uri, mimeType: JSON_TYPE, text: wellFormedJson(state) }] };
    }
    // Read (▲7): a caller that names a log_id has read what was delivered to it before.
    if (source.record) await request.names(named.id);
    const { range } = named;
    const result =
      range === undefined ? await whole(broker, uri, source) : await piece(broker, uri, source, range);
    // An error, or a piece behind the end, tells nothing of the outcome.
    if (source.record && result.contents.some((one) => !("blob" in one) || one.blob !== ""))
      request.delivers(source.record);
    return result;
  });
}

/** Only a part of the outcome, so it is no delivery (▲7); but its caller names the log_id. */
async function readFile(
  broker: Broker,
  { principal, uri, request }: ResourceRead,
  { id, path }: { id: string; path: string },
): Promise<ReadResourceResult> {
  const source = UUID.test(id) ? await resultIn(broker, principal, id) : undefined;
  if (source?.record) await request.names(id);
  const content = source?.record && contentAt(await broker.results.whole(source), path);
  if (!content) throw new ProtocolError(NOT_FOUND, "There is no such file in a result of yours.", { uri });
  return {
    contents: [
      isUtf8(content) && !content.includes(0)
        ? {
            uri,
            mimeType: path.endsWith(".json") ? JSON_TYPE : "text/plain",
            text: content.toString("utf8"),
          }
        : { uri, mimeType: "application/octet-stream", blob: content.toString("base64") },
    ],
  };
}

async function whole(broker: Broker, uri: string, source: Source): Promise<ReadResourceResult> {
  const { bytes, total } = await broker.results.piece(source, 0, MOST_BYTES);
  const text = Buffer.from(bytes).toString("utf8");
  // The text is a string in the message: every quote in it takes one more byte.
  if (total > bytes.byteLength || Buffer.byteLength(JSON.stringify(text)) > MOST_MESSAGE) {
    const how = `It has ${total} bytes: read it in pieces, such as ${uri}?offset=0&length=${MOST_PIECE}, or in part with fetch_cached_response.`;
    throw new ProtocolError(RPC_INVALID_PARAMS, how, { uri, error_code: "RESULT_TOO_LARGE" });
  }
  const blocks = contentOf(JSON.parse(text)) ?? [];
  if (!blocks.some(binaryOf)) return { contents: [{ uri, mimeType: JSON_TYPE, text }] };
  return {
    contents: blocks.map((block) => {
      const binary = binaryOf(block);
      return binary
        ? { uri, mimeType: binary.mimeType, blob: binary.base64 }
        : block.type === "text"
          ? { uri, mimeType: "text/plain", text: block.text }
          : { uri, mimeType: JSON_TYPE, text: wellFormedJson(block) };
    }),
  };
}

async function piece(
  broker: Broker,
  uri: string,
  source: Source,
  { offset, length = MOST_PIECE }: { offset: number; length?: number | undefined },
): Promise<ReadResourceResult> {
  const { bytes } = await broker.results.piece(source, offset, Math.min(length, MOST_PIECE));
  return { contents: [{ uri, mimeType: "application/octet-stream", blob: base64(bytes) }] };
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");

async function refusing<T>(log: Log, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof DocumentError) throw new ProtocolError(RPC_INTERNAL_ERROR, error.message);
    throw refusalError(error, log);
  }
}

/** Not what an operation has only reported: the resource of this address is its result. */
async function resultIn(broker: Broker, principal: string, id: string): Promise<Source | undefined> {
  const source = await broker.results.find(principal, id);
  return source?.partial === undefined ? source : undefined;
}
