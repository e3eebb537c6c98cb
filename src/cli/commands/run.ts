/** `unity-broker run`: a tool call as a step of a pipeline. */
import { print } from "../client/ask-broker.js";
import type { BrokerClient } from "../client/broker-client.js";
import { connectBroker } from "../client/connect-broker.js";
import { RUN_EXIT } from "../client/exit-codes.js";
import { coloursFor } from "../client/render.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/running.js";
import { DEFAULT_WAIT } from "../declared/running.js";
import { environment } from "../environment.js";
import { readSettings } from "../processes/settings.js";
import { createBrokerSession } from "../run/broker-session.js";
import { createConsoleLog } from "../run/console-log.js";
import { durationIn } from "../run/duration.js";
import { createInterrupts } from "../run/interrupts.js";
import { createRunProgress } from "../run/progress.js";
import { jsonWithoutCommands, withoutCommands } from "../run/runner-commands.js";
import { type Step, takeStep } from "../run/step.js";
import { openReportFile } from "../run/test-report/report-file.js";
import { createTestReport } from "../run/test-report/test-report.js";
import { selfCommand } from "../self.js";
import { editorIn, named, objectIn } from "./call.js";

/** In a log, a line that says the same of every test hides the others, ms. */
const LINE_EVERY_MS = 3_000;

export const run: Run<typeof declared.run> = async ({ args }) => {
  const step = stepIn(args);
  const settings = readSettings();
  // Before anything is asked: a step whose report cannot be written would have to run again.
  const junit = args.junit === undefined ? undefined : openReportFile("--junit", args.junit);
  const connect = (): Promise<BrokerClient> => connectBroker({ serves: true, key: args.key }, settings);
  // Until here a signal ends the process as usual: nothing has been asked.
  const first = await connect().catch((error: Error) => {
    if (error instanceof UsageError || "issues" in error) throw error;
    console.error(`unity-broker: ${error.message}`);
    process.exitCode = RUN_EXIT.refused;
    return undefined;
  });
  if (!first) return;
  const { CI, GITHUB_ACTIONS } = environment();
  const isPipeline = CI !== undefined;
  const progress = createRunProgress({
    stream: step.isJson ? process.stderr : process.stdout,
    bar: process.stderr.isTTY && !isPipeline ? process.stderr : undefined,
    lineEveryMs: LINE_EVERY_MS,
    log: args.log ? createConsoleLog() : undefined,
  });
  const harmless = step.isJson ? jsonWithoutCommands : withoutCommands;
  const interrupts = createInterrupts({
    always: args["cancel-on-interrupt"] ? "cancel" : undefined,
    isTerminal: process.stdin.isTTY === true && process.stderr.isTTY === true && !isPipeline,
    input: process.stdin,
    output: process.stderr,
  });
  const session = createBrokerSession({ first, connect, say: progress.say });
  try {
    process.exitCode = await takeStep(step, {
      session,
      progress,
      interrupts,
      print: GITHUB_ACTIONS === "true" ? (text) => print(harmless(text)) : print,
      colours: coloursFor(process.stdout, environment()),
      self: selfCommand(),
      tests: createTestReport({
        junit,
        isGithub: GITHUB_ACTIONS === "true",
        folder: args["project-folder"] ?? "",
      }),
    });
  } finally {
    progress.close();
    interrupts.close();
    await session.close();
  }
};

function stepIn(args: Parameters<typeof run>[0]["args"]): Step {
  const { tool, key, once, "log-id": logId, "force-new": forceNew, "if-away": ifAway } = args;
  const editor = editorIn(args);
  if ((tool === undefined) === (logId === undefined))
    throw new UsageError("name a tool, or the operation to wait for with --log-id");
  if (args.arguments !== undefined && args.json !== undefined)
    throw new UsageError("give the arguments once, behind the tool or after --json");
  if (logId !== undefined && (key ?? editor ?? forceNew ?? ifAway ?? args.json) !== undefined)
    throw new UsageError(
      "--log-id waits for an operation as it is: without --key, --editor, --pool, --if-away, --force-new, --json",
    );
  if (once && key === undefined) throw new UsageError("--once needs --key: a key names its outcome for good");
  if (args.output !== undefined && args.output !== "text" && args.output !== "json")
    throw new UsageError(`--output ${args.output} is neither text nor json`);
  const given = {
    // An assistant wants to know what failed; a report names every test.
    ...(tool === "run-tests" ? { ReportResults: "all" } : {}),
    ...objectIn(args.arguments ?? args.json ?? "{}"),
  };
  const argumentsFor = (superseded: string | undefined): Record<string, unknown> => ({
    ...given,
    ...(editor === undefined ? {} : { [named("editor", given)]: editor }),
    ...(ifAway === undefined ? {} : { [named("if_away", given)]: ifAway }),
    ...(key === undefined ? {} : { [named("idempotency_key", given)]: key }),
    ...(superseded === undefined ? {} : { [named("force_new", given)]: superseded }),
    ...(Object.hasOwn(given, "timeout") ? {} : { timeout: 0 }),
  });
  return {
    what: tool === undefined ? { logId: logId ?? "" } : { tool, argumentsFor },
    forceNew,
    once,
    waitMs: durationIn("--wait", args.wait ?? DEFAULT_WAIT),
    isJson: args.output === "json",
  };
}
