/** `--config <file>` and `--set key=value`, which every command takes in front of `--`: they precede the environment. */
import { resolve } from "node:path";
import { CONFIG_FILE, type SettingName } from "../../shared/setting-names.js";
import { UsageError } from "../command.js";
import { settingMeant, settingNamed } from "./config-file.js";

export type SettingFlags = Partial<Record<SettingName, string>>;

/** The flags, and the arguments without them. Throws a UsageError. */
export function takeSettingFlags(rawArgs: readonly string[]): { flags: SettingFlags; rest: string[] } {
  const flags: SettingFlags = {};
  const rest: string[] = [];
  const passedOn = rawArgs.includes("--") ? rawArgs.indexOf("--") : rawArgs.length;
  for (let at = 0; at < rawArgs.length; at += 1) {
    const argument = rawArgs[at] ?? "";
    const [, option, inline] = /^(--config|--set)(?:=(.*))?$/s.exec(argument) ?? [];
    if (option === undefined || at >= passedOn) {
      rest.push(argument);
      continue;
    }
    if (inline === undefined) at += 1;
    const value = inline ?? (at < passedOn ? rawArgs[at] : undefined);
    if (!value) throw new UsageError(`${option} needs a value`);
    if (option === "--config") flags[CONFIG_FILE] = resolve(value);
    else Object.assign(flags, settingIn(value));
  }
  return { flags, rest };
}

function settingIn(text: string): SettingFlags {
  const at = text.indexOf("=");
  const name = text.slice(0, Math.max(0, at));
  if (name === "") throw new UsageError(`--set ${text}: write key=value, such as retention.hours=48`);
  const setting = settingNamed(name);
  if (!setting) throw new UsageError(`--set ${name}: there is no such setting${settingMeant(name)}`);
  return { [setting]: text.slice(at + 1) };
}
