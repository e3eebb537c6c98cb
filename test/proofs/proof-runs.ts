/** The table of docs/proofs/README.md: each proof, and when it last ran. */
import { fileURLToPath } from "node:url";
import { PROOFS } from "./proofs.js";

export const DOCUMENT = fileURLToPath(new URL("../../docs/proofs/README.md", import.meta.url));

export interface Run {
  /** YYYY-MM-DD. */
  date: string;
  commit: string;
  result: string;
  minutes: number;
}

const BEGIN = "<!-- proofs -->\n";
const END = "<!-- /proofs -->";

function tableIn(document: string): { before: string; table: string; after: string } {
  const from = document.indexOf(BEGIN);
  const to = document.indexOf(END);
  if (from < 0 || to < from) throw new Error(`docs/proofs/README.md has no ${BEGIN.trim()} … ${END}`);
  const start = from + BEGIN.length;
  return { before: document.slice(0, start), table: document.slice(start, to), after: document.slice(to) };
}

/** By the proof's name. */
export function readRuns(document: string): Record<string, Run> {
  const runs: Record<string, Run> = {};
  for (const line of tableIn(document).table.split("\n").slice(2)) {
    const [, name, , , date, commit, result, minutes] = line.split("|").map((cell) => cell.trim());
    if (name && date && commit && result) runs[name] = { date, commit, result, minutes: Number(minutes) };
  }
  return runs;
}

export function writeRuns(document: string, runs: Record<string, Run>): string {
  const { before, after } = tableIn(document);
  const rows = PROOFS.map(({ name, command, covers }) => {
    const run = runs[name];
    const last = run ? [run.date, run.commit, run.result, run.minutes.toFixed(0)] : ["never", "", "", ""];
    return `| ${[name, covers, `\`${command}\``, ...last].join(" | ")} |\n`;
  });
  const head =
    "| proof | covers | command | last ran | on commit | result | min |\n|---|---|---|---|---|---|---:|\n";
  return `${before}${head}${rows.join("")}${after}`;
}
