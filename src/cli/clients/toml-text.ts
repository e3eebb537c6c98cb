/** TOML: edits by toml-patch, which keeps comments, order and the spelling of every value it does not change. */
import { parse, patch, stringify, TomlFormat } from "@decimalturn/toml-patch";
import { at, type ConfigText, type Path } from "./config-text.js";

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
    return appended(text, path, value) ?? patched(text, (data) => put(data, path, value));
  },

  remove(text, path) {
    return patched(text, (data) => {
      const parents = path.slice(0, -1);
      const table = at(data, parents) as Table;
      delete table[path.at(-1) ?? ""];
      // A table that was only ever named by its member's header ([a.b]) has no line of its own that could stay.
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
 * possible (the value is there already, or its parent is an inline table).
 */
function appended(text: string, path: Path, value: unknown): string | undefined {
  if (typeof value !== "object" || Array.isArray(value) || at(tomlText.read(text), path) !== undefined) {
    return undefined;
  }
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  // The end stays as it was: a file without a last line break keeps none.
  const added = block(path, value, eol);
  const after = text + gap + (text === "" || text.endsWith("\n") ? added : added.trimEnd());
  try {
    parse(after);
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
