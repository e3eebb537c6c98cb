/** Where settings come from: flags, then the environment, then a file. Each by its variable's name, as text. */
import { readFileSync } from "node:fs";
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
  try {
    return parseConfigFile(readFileSync(path, "utf8"), path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const what = code === "ENOENT" ? "there is no such file" : `it cannot be read: ${message}`;
    return { path, values: new Map(), problems: [{ what }] };
  }
}

/** As people write and find it. */
export function nameOf(name: SettingName, { from }: Source): string {
  if (from === "environment" || name === CONFIG_FILE) return name;
  return from === "flag" ? `--set ${keyOf(name)}` : keyOf(name);
}
