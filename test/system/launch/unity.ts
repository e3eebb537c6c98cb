/** A Unity for `unity-broker launch`: a program that understands Unity's arguments and starts a simulated Editor, or fails. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { identify } from "../../../src/shared/machine/living-process.js";
import { type CommandLine, type Typed, useCommandLine } from "../../harness/processes/command-line.js";
import { MAIN, until } from "../../harness/processes/processes.js";

/** Built where the tests begin. */
const HOST = fileURLToPath(
  new URL("../../../unity-plugin/DotNet~/EditorHost/bin/Release/net10.0/EditorHost.dll", import.meta.url),
);

export type Behaviour = "opens" | "opens, in C#" | "dies" | "never says hello" | "waits for a sign";

export interface Launches extends CommandLine {
  /** Installs it as the Unity Hub does, in this home. */
  install(version: string, behaviour?: Behaviour): string;
  project(name: string, version?: string): string;
  /** `launch … --json`, and its outcome. */
  launch(
    args: string[],
    more?: Record<string, string>,
  ): Promise<Typed & { outcome: Record<string, unknown> }>;
  /** The arguments of each start of a Unity. */
  starts(): string[];
  /** Lets a Unity that waits for a sign open its project. */
  sign(): void;
}

export function useLaunches(): Launches {
  const line = useCommandLine();
  const inFolder = (name: string): string => join(line.here().folder, name);
  const linesOf = (name: string): string[] =>
    existsSync(inFolder(name)) ? readFileSync(inFolder(name), "utf8").split("\n").filter(Boolean) : [];

  const endEditors = async (): Promise<void> => {
    for (const pid of linesOf("pids").map(Number)) {
      if (identify(pid)) process.kill(pid, "SIGKILL");
      await until(`Unity ${pid} is gone`, () => !identify(pid));
    }
  };

  return {
    ...line,
    install(version, behaviour = "opens") {
      const folder = join(inFolder("home"), "Unity", "Hub", "Editor", version, "Editor");
      mkdirSync(folder, { recursive: true });
      const executable = join(folder, "Unity");
      writeFileSync(executable, script(line.here().folder, behaviour), { mode: 0o755 });
      line.closeLater(endEditors);
      return executable;
    },
    project(name, version = "2022.3.20f1") {
      const path = inFolder(name);
      mkdirSync(join(path, "ProjectSettings"), { recursive: true });
      const text = `m_EditorVersion: ${version}\nm_EditorVersionWithRevision: ${version} (61c2feb0970d)\n`;
      writeFileSync(join(path, "ProjectSettings", "ProjectVersion.txt"), text);
      return path;
    },
    async launch(args, more) {
      const typed = await line.type(["launch", "--json", ...args], more);
      return { ...typed, outcome: typed.stdout === "" ? {} : JSON.parse(typed.stdout) };
    },
    starts: () => linesOf("starts"),
    sign: () => writeFileSync(inFolder("sign"), ""),
  };
}

/** `exec`: the Editor is the process that was started, as Unity is. */
function script(folder: string, behaviour: Behaviour): string {
  const open = `exec "${process.execPath}" "${MAIN}" simulate --port 0 --project "$project" \${labels:+--labels "$labels"}`;
  // Its standard input stays open as long as it runs: the Editor ends with it.
  const host = `mkfifo "${folder}/input-$$" && exec dotnet "${HOST}" --port 0 --project "$project" --endpoint-folder "$UNITY_BROKER_EDITORS_DIR" --time-scale 0.01 --unity-arguments "$arguments" <> "${folder}/input-$$"`;
  const how: Record<Behaviour, string> = {
    opens: open,
    "opens, in C#": host,
    dies: 'echo "No valid Unity Editor license found. Please activate your license." >> "$log"; exit 198',
    "never says hello": "exec sleep 600",
    "waits for a sign": `while [ ! -e "${folder}/sign" ]; do sleep 0.05; done; ${open}`,
  };
  return `#!/bin/bash
echo "$@" >> "${folder}/starts"
echo $$ >> "${folder}/pids"
arguments="$*"
labels=""
while [ $# -gt 0 ]; do
  case "$1" in
    -projectPath) project="$2"; shift ;;
    -logFile) log="$2"; shift ;;
    -brokerLabels) labels="$2"; shift ;;
  esac
  shift
done
echo "Initialize engine version" > "$log"
${how[behaviour]}
`;
}
