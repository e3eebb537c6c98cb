/** `unity-broker fetch`: a stored result, all of it or in part. */
import type { Answer } from "../../shared/operation/answer.js";
import { printableJson, printablePieces } from "../../shared/printable.js";
import { type Asking, askBroker } from "../client/ask-broker.js";
import type { BrokerClient } from "../client/broker-client.js";
import { EXIT, exitCodeOf } from "../client/exit-codes.js";
import { renderAnswer } from "../client/render.js";
import { piecesOf } from "../client/whole-result.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/asking.js";

export const fetch: Run<typeof declared.fetch> = async ({ args }) => {
  const action = actionOf(args);
  const parameters = {
    ...(args.id === undefined ? {} : { cache_id: args.id }),
    ...(args.jq === undefined ? {} : { jq_filter: args.jq }),
    ...(args.fields === undefined ? {} : { fields: args.fields.split(",").map((field) => field.trim()) }),
    ...(args.path === undefined ? {} : { path: args.path }),
    ...numberIn("limit", args.limit),
    ...numberIn("offset", args.offset),
    ...numberIn("page", args.page),
    ...numberIn("page_size_kb", args["page-size"]),
  };
  await askBroker({ serves: false }, async (asking) => {
    const { client, print, colours, self } = asking;
    const isRead = action === "get" && args.id !== undefined && !args.json;
    // In pieces: one answer with all of it would exceed the limit of a message.
    const answer = await client.call("fetch_cached_response", {
      ...parameters,
      action: isRead ? "info" : action,
    });
    if (answer.status !== "completed" || args.json) {
      await print(args.json ? printableJson(answer) : renderAnswer(answer, colours, self));
      return exitCodeOf(answer);
    }
    if (isRead) return write(piecesOf(client, args.id ?? ""));
    return tell(client, answer, asking);
  });
};

type Given = { [name in "jq" | "fields" | "limit" | "offset" | "page" | "id"]?: string | undefined } & {
  info: boolean;
};

function actionOf({ id, info, page, jq, fields, limit, offset }: Given): string {
  if (id === undefined) return "list";
  if (info) return "info";
  const isFiltered = [jq, fields, limit, offset].some((given) => given !== undefined);
  if (page !== undefined && isFiltered) throw new UsageError("Take a page, or filter: not both at once.");
  if (page !== undefined) return "get_page";
  return isFiltered ? "filter" : "get";
}

/** The requested part: in full if it was kept because it is large, else from the answer. */
async function tell(client: BrokerClient, answer: Answer, { print }: Asking): Promise<number> {
  if (answer.cached && answer.cache_id !== undefined) return write(piecesOf(client, answer.cache_id));
  const { status: _status, message: _message, ...rest } = answer;
  await print(printableJson("data" in answer ? answer.data : rest));
  return EXIT.ok;
}

/** Piece by piece, as fast as the reader takes it; a reader that is gone (`| head`) is no error. */
async function write(pieces: AsyncIterable<Buffer>): Promise<number> {
  const { stdout } = process;
  let isRead = true;
  // More than one write may be under way when the reader goes.
  stdout.on("error", () => {
    isRead = false;
  });
  for await (const piece of printablePieces(pieces)) {
    if (!isRead) break;
    if (!stdout.write(piece)) await drained(stdout);
  }
  if (isRead) stdout.write("\n");
  return EXIT.ok;
}

const drained = (stream: NodeJS.WritableStream): Promise<void> =>
  new Promise((resolve) => {
    stream.once("drain", resolve);
    stream.once("error", () => resolve());
  });

function numberIn(name: string, text: string | undefined): Record<string, number> {
  if (text === undefined) return {};
  if (!/^\d+(\.\d+)?$/.test(text))
    throw new UsageError(`--${name.replace("_kb", "")} takes a number, not "${text}".`);
  return { [name]: Number(text) };
}
