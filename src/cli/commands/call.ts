/** `unity-broker call`: one tool call from a terminal or a script. */
import { printableJson } from "../../shared/printable.js";
import { askBroker } from "../client/ask-broker.js";
import { exitCodeOf } from "../client/exit-codes.js";
import { createProgressView, sameCall, waitForResult } from "../client/follow.js";
import { tellRead } from "../client/read-by-name.js";
import { coloursFor, renderAccepted, renderAnswer } from "../client/render.js";
import { reportsSuccess } from "../client/success.js";
import { withWholeResult } from "../client/whole-result.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/asking.js";
import { DEFAULT_WAIT_S } from "../declared/asking.js";
import { environment } from "../environment.js";

export const call: Run<typeof declared.call> = async ({ args }) => {
  const given = objectIn(args.json ?? args.args ?? "{}");
  const editor = editorIn(args);
  const seconds = args.follow ? Number.POSITIVE_INFINITY : secondsIn(args.timeout, DEFAULT_WAIT_S);
  await askBroker({ serves: true }, async (asking) => {
    const { client, print, signal } = asking;
    const accepted = await client.call(args.tool, {
      ...given,
      ...(editor === undefined ? {} : { [named("editor", given)]: editor }),
      ...(args["if-away"] === undefined ? {} : { [named("if_away", given)]: args["if-away"] }),
      ...(args.key === undefined ? {} : { [named("idempotency_key", given)]: args.key }),
      ...(args["force-new"] === undefined ? {} : { [named("force_new", given)]: args["force-new"] }),
      ...(Object.hasOwn(given, "timeout") ? {} : { timeout: 0 }),
    });
    const goesOn = accepted.status === "timeout" && accepted.log_id !== undefined;
    const isWatched = process.stderr.isTTY === true;
    if (goesOn && isWatched && seconds > 0)
      console.error(renderAccepted(accepted, coloursFor(process.stderr, environment())));
    // A key, or force_new, names one operation permanently: typed again it is the same one.
    const isTypedAgain = args.key === undefined && args["force-new"] === undefined;
    const isShown = goesOn && (args.follow || isWatched);
    const view = isShown ? createProgressView(process.stderr) : undefined;
    const waiting =
      goesOn && seconds > 0
        ? waitForResult(client, accepted.log_id ?? "", { seconds, signal, onProgress: view?.show })
        : undefined;
    const answer = waiting ? sameCall(accepted, await waiting.finally(view?.close)) : accepted;
    const isForPeople = args.json === undefined && process.stdout.isTTY;
    const shown = isForPeople ? answer : await withWholeResult(client, answer);
    const text =
      args.json === undefined
        ? renderAnswer(shown, asking.colours, asking.self, isTypedAgain)
        : printableJson(shown);
    if (await print(text)) await tellRead(client, answer);
    return exitCodeOf(answer, await reportsSuccess(client, answer));
  });
};

/** If a tool has a parameter of this name itself, the broker's gets a prefix. */
export function named(parameter: string, given: Record<string, unknown>): string {
  return Object.hasOwn(given, parameter) ? `broker_${parameter}` : parameter;
}

export function objectIn(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UsageError(`the arguments are not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new UsageError('the arguments are not a JSON object, for example {"Message": "hello"}');
  return value as Record<string, unknown>;
}

export function secondsIn(text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback;
  const seconds = Number(text);
  if (text.trim() === "" || !(seconds >= 0))
    throw new UsageError(`--timeout ${text} is not a number of seconds from 0`);
  return seconds;
}

/** The Editor that the options name, or the pool, in the form of the `editor` argument. */
export function editorIn({
  editor,
  pool,
}: {
  editor?: string | undefined;
  pool?: string | undefined;
}): string | undefined {
  if (editor !== undefined && pool !== undefined)
    throw new UsageError("--editor names one, --pool any of several");
  return pool === undefined ? editor : `pool:${pool}`;
}
