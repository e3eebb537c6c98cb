/** The environment of this process. `process.env` is read in this file and nowhere else. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}

/** UNITY_BROKER_BACKGROUND without its schema, for what must start fast. A wrong value is refused where the schema is read. */
export function wantsBackground({ UNITY_BROKER_BACKGROUND: wanted = "" }: NodeJS.ProcessEnv): boolean {
  return !/^(false|0|no|off|n|disabled)$/i.test(wanted);
}
