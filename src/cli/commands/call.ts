/** `unity-broker call`: one tool call from a terminal or a script. */
import type { Answer } from "../../shared/operation/answer.js";
import { printableJson } from "../../shared/printable.js";
import { type Asking, askBroker } from "../client/ask-broker.js";
import { exitCodeOf } from "../client/exit-codes.js";
import { createProgressView, sameCall, waitForResult } from "../client/follow.js";
import type { TypedCall } from "../client/read-outcomes.js";
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
    const typed: TypedCall = {
      place: client.place,
      token: asking.token,
      tool: args.tool,
      editor,
      arguments: given,
    };
    const explicit = args["force-new"];
    // A key identifies one operation permanently: a caller that gives one does not want another run.
    const remembers = explicit === undefined && args.key === undefined;
    const forceNew = remembers ? await asking.readOutcomes.of(typed) : explicit;
    const submit = (superseded: string | undefined): Promise<Answer> =>
      client.call(args.tool, {
        ...given,
        ...(editor === undefined ? {} : { [named("editor", given)]: editor }),
        ...(args["if-away"] === undefined ? {} : { [named("if_away", given)]: args["if-away"] }),
        ...(args.key === undefined ? {} : { [named("idempotency_key", given)]: args.key }),
        ...(superseded === undefined ? {} : { [named("force_new", given)]: superseded }),
        [named("timeout", given)]: 0,
      });
    const first = await submit(forceNew);
    // The store may have lost the remembered operation; then the call is sent without it.
    const accepted = remembers && refusesForceNew(first) ? await submit(undefined) : first;
    const goesOn = accepted.status === "timeout" && accepted.log_id !== undefined;
    const isWatched = process.stderr.isTTY === true;
    if (goesOn && isWatched && seconds > 0)
      console.error(renderAccepted(accepted, coloursFor(process.stderr, environment())));
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
        ? renderAnswer(shown, asking.colours, asking.self, remembers)
        : printableJson(shown);
    if (await print(text)) await remember(asking, typed, answer);
    return exitCodeOf(answer, await reportsSuccess(client, answer));
  });
};

function refusesForceNew({ error_code, faults }: Answer): boolean {
  const paths = Array.isArray(faults) ? faults.map(({ path }: { path?: unknown }) => path) : [];
  return error_code === "INVALID_ARGUMENTS" && paths.includes("/force_new");
}

/**
 * The outcome was read: the same command is a new call from now on. Not after an unknown outcome, which stays unknown; and
 * repeatable tools run again anyway, so their answers have no `force_new`.
 */
async function remember({ client, readOutcomes }: Asking, typed: TypedCall, answer: Answer): Promise<void> {
  const { log_id, state, force_new } = answer;
  if (log_id === undefined || force_new === undefined) return;
  if (state !== "completed" && state !== "failed" && state !== "cancelled") return;
  await readOutcomes.printed(typed, log_id);
  // Naming the log_id confirms the delivery. If the gateway is gone by now, the outcome is unchanged.
  await client.call("get_operation_status", { log_id }).catch(() => undefined);
}

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
