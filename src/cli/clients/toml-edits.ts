/**
 * Edits TOML with toml-patch, which keeps comments, order and the spelling of every value it does not change.
 *
 * Its removal of a table also removes the comments above the next one, so tables under headers of their own are cut
 * out and added as text.
 */
import { parse, patch, stringify, TomlFormat } from "@decimalturn/toml-patch";
import { assertOnlyChanged, at, type ConfigText, type Path } from "./config-text.js";

type Table = Record<string, unknown>;

export const tomlText: ConfigText = {
  read(text) {
    try {
      return parse(text) as Table;
    } catch (error) {
      const { line } = error as { line?: number };
      const reason = (error as Error).message.split("\n").at(-1) ?? "";
      throw new Error(line === undefined ? reason : `line ${line}: ${reason}`);
    }
  },

  set(text, path, value) {
    const isTable = typeof value === "object" && !Array.isArray(value);
    const room = (isTable ? withoutTables(text, path) : undefined) ?? text;
    return appended(room, path, value) ?? patched(text, (data) => put(data, path, value));
  },

  remove(text, path) {
    const cut = withoutTables(text, path);
    if (cut !== undefined) return cut;
    return patched(text, (data) => {
      const parents = path.slice(0, -1);
      const table = at(data, parents) as Table;
      delete table[path.at(-1) ?? ""];
      // A table that was named only by its member's header ([a.b]) has no line of its own that could stay.
      const isNamed = new RegExp(
        `^\\s*(\\[\\s*${parents.join("\\.")}\\s*\\]|${parents.join("\\.")}\\s*=)`,
        "m",
      );
      if (Object.keys(table).length === 0 && !isNamed.test(text)) delete data[parents[0] ?? ""];
    });
  },

  fragment(path, value) {
    return block(path, value, "\n");
  },
};

/**
 * A new table at the end, under a header of its own, as people and Codex itself write it; undefined where that is not
 * possible (the value exists already, or its parent is an inline table).
 */
function appended(text: string, path: Path, value: unknown): string | undefined {
  if (typeof value !== "object" || Array.isArray(value) || at(tomlText.read(text), path) !== undefined) {
    return undefined;
  }
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  // The end stays unchanged: a file without a final line break does not get one.
  const added = block(path, value, eol);
  const after = text + gap + (text === "" || text.endsWith("\n") ? added : added.trimEnd());
  try {
    parse(after);
    return after;
  } catch {
    return undefined;
  }
}

/**
 * The text without the table and its inner ones, and without the blank line above each; undefined if they have no
 * headers of their own, or something else would change.
 */
function withoutTables(text: string, path: Path): string | undefined {
  const names = path.map((key) => `\\s*(?:${key}|"${key}"|'${key}')\\s*`).join("\\.");
  const ours = new RegExp(`^\\s*\\[${names}[.\\]]`);
  const lines = text.split(/(?<=\n)/);
  const kept: string[] = [];
  for (let row = 0; row < lines.length; row += 1) {
    if (!ours.test(lines[row] ?? "")) {
      kept.push(lines[row] ?? "");
      continue;
    }
    const next = lines.findIndex((line, index) => index > row && /^\s*\[/.test(line));
    // Blank lines and comments at its end belong to the next table.
    const table = lines.slice(row, next < 0 ? undefined : next);
    row += table.findLastIndex((line) => /^\s*[^\s#]/.test(line));
    if (kept.length > 1 && kept.at(-1)?.trim() === "") kept.pop();
    // A file without a final line break does not get one.
    if (row === lines.length - 1 && !text.endsWith("\n")) kept.push(kept.pop()?.replace(/\r?\n$/, "") ?? "");
  }
  const after = kept.join("");
  try {
    assertOnlyChanged(tomlText, text, after, path, undefined);
    return after;
  } catch {
    return undefined;
  }
}

function block(path: Path, value: unknown, eol: string): string {
  // Inline tables end without a comma, and with one only since TOML 1.1, which few clients read.
  const format = TomlFormat.default();
  format.inlineTableStart = 0;
  const rows = stringify(value as Table, format)
    .trimEnd()
    .split("\n");
  return [`[${path.join(".")}]`, ...rows, ""].join(eol);
}

function patched(text: string, change: (data: Table) => void): string {
  const data = parse(text) as Table;
  change(data);
  const format = TomlFormat.autoDetectFormat(text);
  format.trailingComma = false;
  return patch(text, data, format);
}

function put(data: Table, path: Path, value: unknown): void {
  let table = data;
  for (const key of path.slice(0, -1)) {
    table[key] ??= {};
    table = table[key] as Table;
  }
  table[path.at(-1) ?? ""] = value;
}
