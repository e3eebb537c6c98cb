/** The settings in effect, and where each comes from. */
import type { Config } from "../../shared/config.js";
import { FILE_SETTINGS, type FileSetting, keyOf, type SettingName } from "../../shared/setting-names.js";
import type { Colours } from "../client/render.js";
import { withoutSecrets } from "../redaction.js";
import { table } from "../table.js";
import { isSecret, shortPath } from "./problems.js";
import type { SettingSources } from "./sources.js";

export interface EffectiveSetting {
  key: string;
  variable: SettingName;
  /** Undefined: it has none. A secret is not shown. */
  value: unknown;
  from: "flag" | "environment" | "file" | "default";
  /** `file:line`, if it comes from a file. */
  place?: string;
}

export function effectiveSettings(config: Config, { texts }: SettingSources): EffectiveSetting[] {
  return FILE_SETTINGS.map((variable) => {
    const source = texts.get(variable)?.source;
    const value = shownValue(variable, config[variable]);
    const place =
      source?.from === "file" ? { place: `${shortPath(source.path)}:${source.value.place.line}` } : {};
    return { key: keyOf(variable), variable, value, from: source?.from ?? "default", ...place };
  });
}

function shownValue(name: SettingName, value: unknown): unknown {
  if (typeof value !== "string") return value;
  // Of an address, its password; of a token, everything.
  if (isSecret(name)) return name === "REDIS_URL" ? withoutSecrets(value) : "[redacted]";
  return withoutSecrets(value);
}

/** What is set, first; then the defaults. */
export function renderSettings(settings: readonly EffectiveSetting[], colours: Colours): string {
  const row = ({ key, value, from, place }: EffectiveSetting): string[] => [
    key,
    value === undefined ? colours.dim("none") : textOf(value),
    from === "default" ? colours.dim(from) : (place ?? from),
  ];
  const isSet = ({ from }: EffectiveSetting): boolean => from !== "default";
  const shown = [...settings.filter(isSet), ...settings.filter((setting) => !isSet(setting))];
  return table(["KEY", "VALUE", "FROM"], shown.map(row));
}

function textOf(value: unknown): string {
  if (typeof value !== "object") return String(value);
  return Object.keys(value as object).length === 0 ? "none" : JSON.stringify(value);
}

/** Which settings differ, by their keys. */
export function changedSettings(before: Config, after: Config): FileSetting[] {
  return FILE_SETTINGS.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
}
