/** The report: one file, for people first and as JSON at its end; without paths of this user, and without tokens. */
import { readdirSync, readFileSync } from "node:fs";
import { homedir, hostname, release, tmpdir, type, userInfo } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const REPOSITORY = fileURLToPath(new URL("../../..", import.meta.url)).replace(/[/\\]$/, "");
const MARKS = { proven: "✔", failed: "✘", not_offered: "–", not_proven_here: "·" };
const WORDS = {
  proven: "as expected",
  failed: "NOT as expected",
  not_offered: "the Editor offers no such tool",
  not_proven_here: "not proven here",
};
const BRIDGE_LINES = /\[Unity Job Broker\]|JobBroker\.|error CS\d+/;
const TAIL = 60;

/** What the bridge and the compiler wrote into the Editor's log, and nothing else of it. */
export const bridgeLines = (log) =>
  log
    .split(/\r?\n/)
    .filter((line) => BRIDGE_LINES.test(line))
    .slice(-TAIL);

/** What the report says of the machine. */
export const machine = () => ({ system: `${type()} ${release()} ${process.arch}`, node: process.version });

export function writeReport(facts, editorsFolder) {
  const clean = scrubber(editorsFolder);
  const cleaned = JSON.parse(clean(JSON.stringify(facts)));
  const { modes, ...about } = cleaned;
  const lines = [
    `# Unity Job Broker in Unity ${about.unity}`,
    about.standIn ? "**Not a real Editor**: a stand-in answered, and says nothing about Unity.\n" : "",
    "| | |\n|---|---|",
    ...Object.entries(about).map(([name, value]) => `| ${name} | ${cell(value)} |`),
    ...modes.flatMap(section),
    "\n## The same as JSON\n```json",
    // A fence in it would end the block.
    JSON.stringify(cleaned, null, 1).replaceAll("`", "'"),
    "```\n",
  ];
  return lines.join("\n");
}

function section({ mode, problem, steps, log }) {
  return [
    `\n## ${mode === "batch" ? "Batch mode" : "With windows"}`,
    ...(problem === undefined ? [] : [`It did not begin: ${problem}\n`]),
    "| | step | expected | observed |\n|---|---|---|---|",
    ...steps.map(
      ({ title, status, expected, observed }) =>
        `| ${MARKS[status]} ${WORDS[status]} | ${cell(title)} | ${cell(expected)} | ${cell(observed ?? "")} |`,
    ),
    ...(log.length === 0 ? [] : ["\nThe bridge's last lines in the Editor's log:\n```", ...log, "```"]),
  ];
}

const cell = (value) =>
  String(value)
    .replaceAll("|", "\\|")
    .replace(/\s*\n\s*/g, " ");

/** Replaces this user's folders and names, e-mail addresses, and the tokens of the endpoint files. */
function scrubber(editorsFolder) {
  const paths = [
    [REPOSITORY, "<repository>"],
    [homedir(), "<home>"],
    [tmpdir(), "<temporary>"],
  ].flatMap(([path, name]) => spellings(path).map((spelling) => [spelling, name]));
  const { username } = userInfo();
  const words = [
    ...tokensIn(editorsFolder).map((token) => [token, "<token>"]),
    ...(username.length > 2 && username !== "root" ? [[username, "<user>"]] : []),
    ...(hostname().length > 3 ? [[hostname(), "<machine>"]] : []),
  ];
  const all = [...paths, ...words]
    .filter(([from]) => from.length > 1)
    .sort(([a], [b]) => b.length - a.length);
  return (text) =>
    all
      .reduce((cleaned, [from, to]) => cleaned.replaceAll(from, to), text)
      .replace(/[\w.+-]+@[\w-]+\.[\w.]+/g, "<e-mail>");
}

/** As it stands, with the other slashes, and as JSON and C# write a backslash. */
const spellings = (path) => [path, path.replaceAll("\\", "/"), path.replaceAll("\\", "\\\\")];

function tokensIn(folder) {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")).token)
      .filter((token) => typeof token === "string" && token.length > 8);
  } catch {
    return [];
  }
}
