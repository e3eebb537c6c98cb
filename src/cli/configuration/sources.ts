/** Where settings come from: flags, then the environment, then a file. Each by its variable's name, as text. */
import { isUtf8 } from "node:buffer";
import { readFileSync, statSync } from "node:fs";
import { CONFIG_FILE, keyOf, SETTING_NAMES, type SettingName } from "../../shared/setting-names.js";
import { environment, givenSettings } from "../environment.js";
import { type ConfigFile, type FileValue, parseConfigFile } from "./config-file.js";

export type Source =
  | { from: "flag" }
  | { from: "environment" }
  | { from: "file"; path: string; value: FileValue };

export interface SettingSources {
  file: ConfigFile | undefined;
  /** Of everything that is set; an empty text counts as not set. */
  texts: Map<SettingName, { text: string; source: Source }>;
}

/** Never throws: what is wrong with the file is among its problems. */
export function settingSources(
  env: NodeJS.ProcessEnv = environment(),
  flags: Readonly<Partial<Record<SettingName, string>>> = givenSettings(),
): SettingSources {
  const path = env[CONFIG_FILE];
  const file = path ? readConfigFile(path) : undefined;
  const texts: SettingSources["texts"] = file ? fileTexts(file) : new Map();
  for (const name of SETTING_NAMES) {
    const text = env[name];
    if (text) texts.set(name, { text, source: { from: flags[name] === undefined ? "environment" : "flag" } });
  }
  return { file, texts };
}

export function fileTexts({ path, values }: ConfigFile): SettingSources["texts"] {
  return new Map(
    [...values].map(([name, value]) => [name, { text: value.text, source: { from: "file", path, value } }]),
  );
}

/** The environment with the file's values where it has none itself. */
export function settingsEnvironment(env: NodeJS.ProcessEnv = environment()): NodeJS.ProcessEnv {
  if (!env[CONFIG_FILE]) return env;
  const { texts } = settingSources(env);
  return { ...env, ...Object.fromEntries([...texts].map(([name, { text }]) => [name, text])) };
}

function readConfigFile(path: string): ConfigFile {
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

/** Every command reads it. */
const MOST_BYTES = 1024 * 1024;

/** As people write and find it. */
export function nameOf(name: SettingName, { from }: Source): string {
  if (from === "environment" || name === CONFIG_FILE) return name;
  return from === "flag" ? `--set ${keyOf(name)}` : keyOf(name);
}
