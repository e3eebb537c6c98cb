/** `unity-broker launch`: opens a project in Unity, and waits until the broker has its Editor. Calls no tool of it. */
import { homedir } from "node:os";
import { join } from "node:path";
import { isLabel } from "../../shared/editors/target.js";
import { printable, printableJson, printableLine } from "../../shared/printable.js";
import { print } from "../client/ask-broker.js";
import { connectBroker } from "../client/connect-broker.js";
import { EXIT } from "../client/exit-codes.js";
import { editorsIn } from "../client/render.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/launching.js";
import { DEFAULT_LAUNCH_WAIT } from "../declared/launching.js";
import { environment } from "../environment.js";
import { findUnity } from "../launch/find-unity.js";
import { type Launched, launchEditor } from "../launch/launch.js";
import { createOpenEditor } from "../launch/open-editor.js";
import { readProject } from "../launch/project.js";
import { readSettings } from "../processes/settings.js";
import { BrokerAway, createBrokerSession } from "../run/broker-session.js";
import { durationIn } from "../run/duration.js";

export const launch: Run<typeof declared.launch> = async ({ args }) => {
  const project = readProject(args.project);
  const unityArgs = argumentsOf(args);
  const waitMs = durationIn("--timeout", args.timeout ?? DEFAULT_LAUNCH_WAIT);
  const settings = readSettings();
  const say = (line: string): void => console.error(printableLine(line));
  const connect = () => connectBroker({ serves: true }, settings);
  // Until here a signal ends the process as usual: nothing has been started.
  const session = createBrokerSession({ first: await connect(), connect, say });
  const interrupt = new AbortController();
  const onSignal = (): void => interrupt.abort();
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  const { signal } = interrupt;
  const until = performance.now() + waitMs;
  try {
    const launched = await launchEditor(
      {
        project,
        openEditor: createOpenEditor(settings.editorsFolder, project, {
          debug: () => undefined,
          warn: (_values, message) => say(message),
        }),
        // A broker that is away does not end an Editor that starts.
        listed: () =>
          session.call("list_editors", {}, { signal, until }).then(editorsIn, (error: Error) => {
            if (error instanceof BrokerAway) return [];
            throw error;
          }),
        findUnity: () =>
          findUnity(
            project,
            { named: args.unity, configured: settings.config.UNITY_BROKER_UNITY },
            { platform: process.platform, env: environment(), home: homedir() },
          ),
        args: unityArgs,
        env: environment(),
        folder: join(settings.dataDir, "launches", project.editorId),
        signal,
        say,
      },
      waitMs,
    );
    await print(args.json ? printableJson(shown(launched)) : printable(text(launched)));
    process.exitCode = EXIT[launched.ending];
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
    await session.close();
  }
};

/** As the bridge knows them (unity-plugin/Core/Security). */
const SWITCHES = [
  "tests",
  "menu-items",
  "code",
  "builds",
  "play-mode",
  "scenes",
  "assets",
  "packages",
  "none",
];
/**
 * Tools and assemblies, which only the Editor knows; it logs those that it has not. A single word is most likely a switch that
 * was written wrongly: no tool that needs one has such a name.
 */
const NAMED = /^(-[a-z\d]+(-[a-z\d]+)*|[a-z\d]+(-[a-z\d]+)+|-?assembly:.+)$/;

/** In batch mode the bridge runs only where it is asked for. */
function argumentsOf(args: Parameters<typeof launch>[0]["args"]): string[] {
  const labels = args.label?.split(",").map((label) => label.trim()) ?? [];
  for (const label of labels)
    if (!isLabel(label.toLowerCase()))
      throw new UsageError(`--label: "${label}" is no label: letters, digits, . _ -`);
  const allowed = args.allow?.split(",").map((word) => word.trim().toLowerCase());
  if (allowed && !args.batch)
    throw new UsageError("--allow is for --batch: an Editor with a window is opened up in that window");
  const wrong = allowed?.find((word) => !SWITCHES.includes(word) && !NAMED.test(word));
  if (wrong !== undefined) {
    throw new UsageError(
      `--allow: "${wrong}" is none of ${SWITCHES.join(", ")}, nor the name of a tool or assembly:<name>`,
    );
  }
  return [
    ...(args.batch ? ["-batchmode", "-jobBroker"] : []),
    ...(allowed ? ["-brokerAllow", allowed.join(",")] : []),
    ...(labels.length > 0 ? ["-brokerLabels", labels.join(",")] : []),
    ...args._.slice(1),
  ];
}

function text({ ending, message, editor, wasOpen, log, tail = [] }: Launched): string {
  const lines =
    ending === "ok" && editor && !wasOpen
      ? [`launched  ${editor.id}  (Unity ${editor.unityVersion}, process ${editor.pid})`]
      : [message];
  return [
    ...lines,
    ...(log === undefined ? [] : [`log  ${log}`]),
    ...(tail.length > 0 ? ["Its last lines:", ...tail.map((line) => `  | ${line}`)] : []),
  ].join("\n");
}

const STATUS: Partial<Record<Launched["ending"], string>> = {
  refused: "refused",
  goesOn: "starting",
  detached: "interrupted",
};

function shown({
  ending,
  message,
  editor,
  session,
  wasOpen,
  executable,
  pid,
  log,
  tail,
}: Launched): Record<string, unknown> {
  return {
    status: ending === "ok" ? (wasOpen ? "open" : "launched") : (STATUS[ending] ?? "failed"),
    ...(editor ? { editor: editor.id, unity_version: editor.unityVersion } : {}),
    ...(editor || pid !== undefined ? { pid: editor?.pid ?? pid } : {}),
    session,
    unity: executable,
    log,
    message,
    log_tail: tail,
  };
}
