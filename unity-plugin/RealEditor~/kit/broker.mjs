/** The broker's command line, with data and endpoint files of its own: a broker that the user has running sees nothing of it. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../../../", import.meta.url));
const MAIN = join(REPOSITORY, "dist", "cli", "main.js");
/** No answer within this time is an observation, and the kit goes on. */
const LIMIT_MS = 15 * 60_000;

export function createBroker(folder, env = process.env) {
  if (!existsSync(MAIN))
    throw new Error("The broker is not built: run `npm ci && npm run build` in the repository.");
  const settings = {
    UNITY_BROKER_DATA_DIR: env.UNITY_BROKER_DATA_DIR ?? join(folder, "broker"),
    UNITY_BROKER_EDITORS_DIR: env.UNITY_BROKER_EDITORS_DIR ?? join(folder, "editors"),
    UNITY_BROKER_ANSWERS: "full",
  };
  let editor;

  /** Runs `unity-broker …`; `answer` is what it printed as JSON. */
  const type = (args, limitMs = LIMIT_MS) =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now();
      const child = spawn(process.execPath, [MAIN, ...args], { env: { ...env, ...settings } });
      let [stdout, stderr] = ["", ""];
      child.stdout.setEncoding("utf8").on("data", (text) => {
        stdout += text;
      });
      child.stderr.setEncoding("utf8").on("data", (text) => {
        stderr += text;
      });
      const limit = setTimeout(() => child.kill(), limitMs);
      child.once("error", reject);
      child.once("close", (code) => {
        clearTimeout(limit);
        resolve({
          code,
          answer: parsed(stdout),
          said: (stderr || stdout).trim(),
          ms: performance.now() - startedAt,
        });
      });
    });

  return {
    version: JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")).version,
    editorsFolder: settings.UNITY_BROKER_EDITORS_DIR,
    type,
    /** All calls go to it from now on. */
    use(id) {
      editor = id;
    },
    /** A call, waited for to its end, or as long as `more` says. */
    call: (tool, args = {}, more = ["--follow"]) =>
      type(["call", tool, "--json", JSON.stringify(args), "--editor", editor, ...more]),
    async editors() {
      const { answer } = await type(["editors", "--json"], 60_000);
      return answer ?? [];
    },
    async tools() {
      const { answer } = await type(["tools", "--json"], 60_000);
      return (answer?.tools ?? answer ?? []).map(({ name }) => name);
    },
    close: () => type(["down"], 60_000),
  };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
