/** The environment of this process. `process.env` is read in this file and nowhere else. */
export function environment(): NodeJS.ProcessEnv {
  return process.env;
}
