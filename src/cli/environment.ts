import { isAbsolute, resolve } from "node:path";
import { WAITS, type WaitLimits } from "../shared/wait-time.js";
import type { SettingFlags } from "./configuration/setting-flags.js";

let given: SettingFlags = {};

/** The settings that the command line gives: they are part of the environment from then on, of processes it starts too. */
export function giveSettings(flags: SettingFlags): void {
  given = flags;
}

export function givenSettings(): Readonly<SettingFlags> {
  return given;
}

/** The environment of this process. `process.env` is read in this file and nowhere else. */
export function environment(): NodeJS.ProcessEnv {
  const { UNITY_BROKER_CONFIG: file = process.env.UNITY_BROKER_CONFIG } = given;
  if (!file && Object.keys(given).length === 0) return process.env;
  // A broker in the background has another working folder.
  const named = file && !isAbsolute(file) ? resolve(file) : file;
  return { ...process.env, ...given, ...(named ? { UNITY_BROKER_CONFIG: named } : {}) };
}

/** UNITY_BROKER_BACKGROUND without its schema, for what must start fast. A wrong value is refused where the schema is read. */
export function wantsBackground({ UNITY_BROKER_BACKGROUND: wanted = "" }: NodeJS.ProcessEnv): boolean {
  return !/^(false|0|no|off|n|disabled)$/i.test(wanted);
}

/** UNITY_BROKER_WAIT and UNITY_BROKER_MAX_WAIT without their schema, likewise. */
export function wantedWaits({ UNITY_BROKER_WAIT, UNITY_BROKER_MAX_WAIT }: NodeJS.ProcessEnv): WaitLimits {
  const seconds = (text: string | undefined, otherwise: number): number =>
    text !== undefined && Number(text) >= 0 ? Number(text) : otherwise;
  return {
    standardSeconds: seconds(UNITY_BROKER_WAIT, WAITS.standardSeconds),
    mostSeconds: seconds(UNITY_BROKER_MAX_WAIT, WAITS.mostSeconds),
  };
}
