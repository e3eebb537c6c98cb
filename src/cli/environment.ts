import { resolve } from "node:path";
import { WAITS, type WaitLimits } from "../shared/wait-time.js";
import { UsageError } from "./command.js";

/**
 * The arguments without `--config <file>`, which every command takes in front of `--`. The file is part of the environment
 * from then on, of processes it starts too. Throws a UsageError.
 */
export function takeConfigFile(typed: readonly string[]): string[] {
  const at = typed.findIndex((argument) => /^--(config(=.*)?)?$/s.test(argument));
  const option = typed[at];
  if (option === undefined || option === "--") return [...typed];
  const isInline = option !== "--config";
  const file = isInline ? option.slice("--config=".length) : typed[at + 1];
  if (!file || file === "--") throw new UsageError("--config needs a value");
  process.env.UNITY_BROKER_CONFIG = file;
  return takeConfigFile(typed.toSpliced(at, isInline ? 1 : 2));
}

/** The environment of this process. `process.env` is read in this file and nowhere else. */
export function environment(): NodeJS.ProcessEnv {
  const { UNITY_BROKER_CONFIG: file } = process.env;
  // A broker in the background has another working folder.
  return file ? { ...process.env, UNITY_BROKER_CONFIG: resolve(file) } : process.env;
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
