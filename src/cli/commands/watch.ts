/**
 * `unity-broker watch`: Editors and operations as they change, until q or Ctrl-C. Reads states and delivers no outcome.
 *
 * It asks again and again, and does not follow the broker's events: those are a gateway's (HTTP), and the broker in the
 * background, which most people watch, has none. With both ways, and a loss of either made good, nobody would see more
 * than with one question a second: which operation waits for how many, and what keeps an Editor from working, are no events.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Answer } from "../../shared/operation/answer.js";
import { printableJson } from "../../shared/printable.js";
import { type Asking, askBroker } from "../client/ask-broker.js";
import { accepted } from "../client/broker-client.js";
import { EXIT } from "../client/exit-codes.js";
import { editorsIn } from "../client/render.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/asking.js";
import { changeLine, renderWatch } from "../watch/screen.js";
import { changesBetween, isOpen, type Snapshot } from "../watch/snapshot.js";

export const watch: Run<typeof declared.watch> = async ({ args }) => {
  const seconds = numberIn("interval", args.interval, 1, 0.1, 3_600);
  const limit = Math.floor(numberIn("limit", args.limit, 15, 1, 100));
  await askBroker({ serves: true }, async (asking) => {
    const ended = new AbortController();
    const { signal } = ended;
    const quit = (): void => ended.abort();
    asking.signal.addEventListener("abort", quit, { once: true });
    if (asking.signal.aborted) quit();
    const isScreen = process.stdout.isTTY && !args.json;
    const view = isScreen ? screenView(asking, seconds * 1_000, quit) : lineView(asking, args.json);
    // A reader that went away (`| head`).
    process.stdout.once("error", quit);
    // Else the terminal would be left without its cursor.
    process.once("SIGTERM", quit);
    let latest: Snapshot | undefined;
    try {
      while (!signal.aborted) {
        latest = await look(asking, { limit, signal }, latest);
        if (!signal.aborted) view.show(latest);
        await delay(seconds * 1_000, undefined, { signal }).catch(() => undefined);
      }
    } finally {
      view.close();
    }
    return EXIT.ok;
  });
};

/** A broker that does not answer is a condition to be shown: the next look may find it again. */
async function look(
  { client }: Asking,
  { limit, signal }: { limit: number; signal: AbortSignal },
  before: Snapshot | undefined,
): Promise<Snapshot> {
  try {
    const [editors, operations] = await Promise.all([
      client.call("list_editors", {}, { signal }),
      client.call("list_operations", { limit }, { signal }),
    ]);
    const listed = accepted(operations).operations as Answer[];
    return {
      editors: editorsIn(editors),
      operations: await Promise.all(
        listed.map((operation) =>
          isOpen(operation)
            ? client.call("get_operation_status", { log_id: operation.log_id }, { signal })
            : operation,
        ),
      ),
    };
  } catch (error) {
    return { editors: [], operations: [], ...before, trouble: (error as Error).message };
  }
}

interface View {
  show(snapshot: Snapshot): void;
  close(): void;
}

function lineView({ colours }: Asking, asJson: boolean): View {
  let before: Snapshot | undefined;
  return {
    show(snapshot) {
      const now = Date.now();
      for (const change of changesBetween(before, snapshot)) {
        const line = asJson
          ? printableJson({ at: new Date(now).toISOString(), ...change }, 0)
          : changeLine(change, now, colours);
        process.stdout.write(`${line}\n`);
      }
      before = snapshot;
    },
    close: () => undefined,
  };
}

/** The alternate screen, on which long lines end at the edge: what was there before comes back at the end. */
const OPEN = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const CLOSE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const [CTRL_C, CTRL_D] = ["\u0003", "\u0004"];
const HOME = "\u001b[H";
const TO_LINE_END = "\u001b[K";
const TO_SCREEN_END = "\u001b[J";

/** The clock and the ages go on also while an answer is awaited, ms. */
const REDRAW_MS = 1_000;

/** `pauseMs`: between an answer and the next question. */
function screenView({ colours }: Asking, pauseMs: number, quit: () => void): View {
  const { stdin, stdout } = process;
  let latest: { snapshot: Snapshot; at: number } | undefined;
  const draw = (): void => {
    if (!latest) return;
    // Some terminals say that they have none of either.
    const [rows, columns] = [stdout.rows || 24, stdout.columns || 80];
    const silentMs = performance.now() - latest.at - pauseMs;
    const screen = { now: Date.now(), rows, columns, silentMs };
    const lines = renderWatch(latest.snapshot, screen, colours).split("\n");
    // Erased before it is written: behind a full line the cursor is still on its last column.
    const text = lines.map((line) => `${TO_LINE_END}${line}`).join("\r\n");
    stdout.write(`${HOME}${text}${lines.length < rows ? `\r\n${TO_SCREEN_END}` : ""}`);
  };
  // In this mode the terminal makes no signal of Ctrl-C.
  const typed = (keys: Buffer): void => {
    if (["q", "Q", CTRL_C, CTRL_D].some((key) => keys.includes(key))) quit();
  };
  stdout.write(OPEN);
  stdout.on("resize", draw);
  const redrawing = setInterval(draw, REDRAW_MS);
  if (stdin.isTTY) stdin.setRawMode(true).on("data", typed);
  return {
    show(snapshot) {
      latest = { snapshot, at: performance.now() };
      draw();
    },
    close() {
      clearInterval(redrawing);
      stdout.off("resize", draw);
      if (stdin.isTTY) stdin.setRawMode(false).off("data", typed).pause();
      stdout.write(CLOSE);
    },
  };
}

function numberIn(
  option: string,
  text: string | undefined,
  standard: number,
  least: number,
  most: number,
): number {
  const number = Number(text ?? standard);
  if (!(number >= least && number <= most))
    throw new UsageError(`--${option} ${text} is not a number from ${least} to ${most}`);
  return number;
}
