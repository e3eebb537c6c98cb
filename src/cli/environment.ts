import { WAITS, type WaitLimits } from "../shared/wait-time.js";

/** The environment of this process. `process.env` is read in this file and nowhere else. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
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
