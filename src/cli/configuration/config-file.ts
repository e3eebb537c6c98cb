/**
 * Reads a configuration file, YAML or JSON, into the texts that the same settings have as variables, with the place of each.
 * Values are checked afterwards, by the schema of all settings (config.ts): a client's pipe reads the file without it.
 */

import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, resolve } from "node:path";
import type * as Yaml from "yaml";
import { didYouMean } from "../../shared/editors/target.js";
import {
  CONFIG_FILE,
  FILE_SETTINGS,
  type FileSetting,
  formOf,
  keyOf,
  type SettingForm,
} from "../../shared/setting-names.js";
import { environment } from "../environment.js";

// What is wrong with YAML that can be read: names that are there twice, aliases, and what other formats and versions have.

interface Fault {
  /** Where it is in the text. */
  offset: number;
  what(placeAt: (offset: number) => { line: number }): string;
}

/** Looks at each node once, however large the file is. `targets`: what each alias names. */
export function examined(
  document: Yaml.Document.Parsed,
  yaml: typeof Yaml,
): { faults: Fault[]; targets: Map<Yaml.Alias, Yaml.Node> } {
  const faults: Fault[] = [];
  const anchors = new Map<string, Yaml.Node>();
  const targets = new Map<Yaml.Alias, Yaml.Node>();
  const startOf = (node: Yaml.Node): number => node.range?.[0] ?? 0;
  const fault = (node: Yaml.Node, what: Fault["what"]): void => {
    faults.push({ offset: startOf(node), what });
  };

  const examineKeys = (map: Yaml.YAMLMap): void => {
    const seen = new Map<string, Yaml.Node>();
    for (const { key } of map.items) {
      if (!yaml.isScalar(key)) continue;
      const name = String(key.value);
      const first = seen.get(name);
      if (first) fault(key, (placeAt) => `${name} is there already, in line ${placeAt(startOf(first)).line}`);
      else if (name === "<<") fault(key, () => "YAML 1.2 has no merge keys: write the keys out");
      else if (/^\/[/*]/.test(name)) fault(key, () => "comments begin with #, in JSON too");
      seen.set(name, first ?? key);
    }
  };

  yaml.visit(document, (_key, node, path) => {
    if (yaml.isAlias(node)) {
      const named = anchors.get(node.source);
      if (!named) fault(node, () => `*${node.source} names nothing: &${node.source} must stand before it`);
      else if (path.includes(named)) fault(node, () => `*${node.source} is within what it names`);
      else targets.set(node, named);
    } else if (yaml.isScalar(node) || yaml.isCollection(node)) {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (yaml.isMap(node)) examineKeys(node);
    }
  });
  if (faults.length === 0) {
    try {
      document.toJS();
    } catch {
      const [first] = targets.keys();
      faults.push({ offset: first ? startOf(first) : 0, what: () => TOO_MANY });
    }
  }
  return { faults, targets };
}

/** The parser's own limit against texts that grow without bounds. */
const TOO_MANY =
  "from here on, aliases stand for too much: more than 100 uses of one anchor, those within others counted";

/** From 1. */
export interface Place {
  line: number;
  column: number;
}

export interface FileValue {
  /** As a variable would have it. */
  text: string;
  /** Of what is within it, as much of the path as is there; of an empty path, its own. */
  placeOf(path: readonly PropertyKey[]): Place;
}

export interface FileProblem extends Partial<Place> {
  key?: string | undefined;
  what: string;
}

export interface ConfigFile {
  path: string;
  values: Map<FileSetting, FileValue>;
  problems: FileProblem[];
}

const SECOND_DOCUMENT = "a second document begins here; a configuration is one";

const BY_KEY = new Map(FILE_SETTINGS.map((name) => [keyOf(name), name]));
const SECTIONS = new Set([...BY_KEY.keys()].flatMap((key) => (key.includes(".") ? [key.split(".")[0]] : [])));

/** Every command reads it. */
const MOST_BYTES = 1024 * 1024;

/** The file that the environment names, if it names one. Never throws: what is wrong with it is among its problems. */
export function configFileOf(env: NodeJS.ProcessEnv): ConfigFile | undefined {
  const path = env[CONFIG_FILE];
  if (!path) return undefined;
  const unreadable = (what: string): ConfigFile => ({ path, values: new Map(), problems: [{ what }] });
  let bytes: Buffer;
  try {
    const about = statSync(path);
    if (about.isDirectory()) return unreadable("it is a folder");
    if (about.size > MOST_BYTES) return unreadable("it is larger than 1 MB: is it a configuration?");
    bytes = readFileSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return unreadable(code === "ENOENT" ? "there is no such file" : `it cannot be read: ${message}`);
  }
  if (!isUtf8(bytes))
    return unreadable("it is not in UTF-8: save it so (`>` of Windows PowerShell writes UTF-16)");
  return parseConfigFile(bytes.toString("utf8"), path);
}

/** The environment with the file's values where it has none itself; an empty text counts as none. */
export function settingsEnvironment(
  env: NodeJS.ProcessEnv = environment(),
  file: ConfigFile | undefined = configFileOf(env),
): NodeJS.ProcessEnv {
  if (!file) return env;
  const inFile = [...file.values].filter(([name]) => !env[name]);
  return { ...env, ...Object.fromEntries(inFile.map(([name, { text }]) => [name, text])) };
}

/** Reports everything that is wrong, and never throws. `path`: the file's full path. */
export function parseConfigFile(text: string, path: string): ConfigFile {
  // CommonJS: only a process with a file loads it.
  const yaml = createRequire(import.meta.url)("yaml") as typeof Yaml;
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
    // Compares each key with each other one; `examined` does not.
    uniqueKeys: false,
    logLevel: "error",
  });
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const file: ConfigFile = { path, values: new Map(), problems: [] };
  for (const { pos, code, message } of [...document.errors, ...document.warnings])
    file.problems.push({ ...placeAt(pos[0]), what: code === "MULTIPLE_DOCS" ? SECOND_DOCUMENT : message });
  if (file.problems.length > 0) return file;
  const { faults, targets } = examined(document, yaml);
  for (const { offset, what } of faults) file.problems.push({ ...placeAt(offset), what: what(placeAt) });
  if (file.problems.length > 0) return file;

  const plain = (node: unknown): unknown => (yaml.isAlias(node) ? targets.get(node) : node);
  const startOf = (node: unknown): Place => placeAt(yaml.isNode(node) ? (node.range?.[0] ?? 0) : 0);

  const placeIn = (node: unknown, path: readonly PropertyKey[], known: Place): Place => {
    const [name, ...rest] = path;
    const within = plain(node);
    if (name === undefined) return known;
    if (yaml.isSeq(within)) {
      const item = within.items[Number(name)];
      return item === undefined ? known : placeIn(item, rest, startOf(item));
    }
    const pair = yaml.isMap(within) ? within.items.find(({ key }) => textOf(key) === name) : undefined;
    return pair ? placeIn(pair.value, rest, startOf(pair.key)) : known;
  };

  const textOf = (node: unknown): string => (yaml.isScalar(node) ? String(node.value) : String(node));

  const take = (name: FileSetting, key: string, keyNode: unknown, node: unknown): void => {
    const place = startOf(keyNode);
    const read = textIn(yaml.isNode(node) ? node.toJS(document) : node, formOf(name), dirname(path));
    if (read === undefined) return;
    if (typeof read === "object") {
      file.problems.push({ ...place, key, what: read.wrong });
      return;
    }
    file.values.set(name, { text: read, placeOf: (within) => placeIn(node, within, place) });
  };

  const readSection = (section: Yaml.YAMLMap, prefix: string): void => {
    for (const { key: keyNode, value } of section.items) {
      const key = `${prefix}${textOf(keyNode)}`;
      // A section's key is within it: schema and editors know no other way.
      const setting = prefix === "" && key.includes(".") ? undefined : BY_KEY.get(key);
      const node = plain(value);
      if (setting) take(setting, key, keyNode, node);
      else if (prefix === "" && SECTIONS.has(key)) {
        if (yaml.isMap(node)) readSection(node, `${key}.`);
        else if (yaml.isNode(node) && !(yaml.isScalar(node) && node.value === null))
          file.problems.push({
            ...startOf(keyNode),
            key,
            what: `it is a section, with ${knownIn(`${key}.`)}`,
          });
      } else file.problems.push({ ...startOf(keyNode), key, what: unknownKey(key, prefix) });
    }
  };

  const root = plain(document.contents);
  if (yaml.isMap(root)) readSection(root, "");
  else if (root !== null && !(yaml.isScalar(root) && root.value === null))
    file.problems.push({ ...startOf(root), what: "the file is no mapping of sections, such as `gateway:`" });
  return file;
}

/** Undefined: it is not set. */
function textIn(value: unknown, form: SettingForm, folder: string): string | { wrong: string } | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  if (form === "json")
    return isMapping(value)
      ? JSON.stringify(value)
      : { wrong: "it is a mapping of names to what holds for them" };
  if (form === "list" && Array.isArray(value)) {
    const odd = value.find((item) => typeof item === "object" || String(item).includes(","));
    return odd === undefined ? value.join(",") : { wrong: "its items are texts without commas" };
  }
  if (form === "pairs" && isMapping(value)) {
    const odd = Object.entries(value).find(([name, item]) => /[,=]/.test(name) || typeof item === "object");
    if (odd) return { wrong: `${odd[0]} has no single value` };
    return Object.entries(value)
      .map(([name, item]) => `${name}=${item}`)
      .join(",");
  }
  if (typeof value === "object") return { wrong: WANTED[form] };
  const text = String(value);
  return form === "path" && !isAbsolute(text) && !text.startsWith("~") ? resolve(folder, text) : text;
}

const WANTED: Record<Exclude<SettingForm, "json">, string> = {
  text: "it has one value",
  path: "it is a path",
  list: "it is a list of texts",
  pairs: "it is a mapping of names to values",
};

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unknownKey(key: string, prefix: string): string {
  const own = key.slice(prefix.length);
  const [section, inSection] = own.split(".");
  if (BY_KEY.has(key)) return `unknown; write ${inSection} in the section ${section}`;
  const asVariable = FILE_SETTINGS.find((name) => name === own);
  if (asVariable) return `unknown; the variable ${asVariable} is ${keyOf(asVariable)} here`;
  const elsewhere = [...BY_KEY.keys()].find((known) => known.split(".").at(-1) === own);
  if (elsewhere) return `unknown (did you mean ${elsewhere}?)`;
  return `unknown${didYouMean(own, namesIn(prefix))}; known: ${knownIn(prefix)}`;
}

function namesIn(prefix: string): string[] {
  const own = [...BY_KEY.keys()].filter((key) => key.startsWith(prefix));
  return [...new Set(own.map((key) => key.slice(prefix.length).split(".")[0] ?? ""))];
}

function knownIn(prefix: string): string {
  return namesIn(prefix).join(", ");
}
