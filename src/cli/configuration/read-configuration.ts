/** The configuration: the environment, and a file for what it leaves out. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { type Config, readConfig } from "../../shared/config.js";
import { withPassword } from "../../shared/redis-url.js";
import { environment } from "../environment.js";
import { type ConfigFile, configFileOf, settingsEnvironment } from "./config-file.js";
import { fileProblems, issueProblems, type Problem, placeOf, WrongConfiguration } from "./problems.js";

/** Throws WrongConfiguration. What is wrong in the file counts also where a variable takes its place. */
export function readConfiguration(
  env: NodeJS.ProcessEnv = environment(),
  file: ConfigFile | undefined = configFileOf(env),
): Config {
  const inFile = file ? [...fileProblems(file), ...parse({}, file).problems] : [];
  const { config, problems } = parse(env, file);
  const elsewhere = problems.filter((problem) => problem.file === undefined);
  if (config && inFile.length === 0) return withRedisPassword(config, env, file);
  throw new WrongConfiguration([...inFile, ...elsewhere]);
}

function parse(
  env: NodeJS.ProcessEnv,
  file: ConfigFile | undefined,
): { config?: Config; problems: Problem[] } {
  try {
    return { config: readConfig(settingsEnvironment(env, file)), problems: [] };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return { problems: issueProblems(error.issues, { env, file }) };
  }
}

/** An environment is shown by `docker inspect` and inherited; a file is neither. */
function withRedisPassword(config: Config, env: NodeJS.ProcessEnv, file: ConfigFile | undefined): Config {
  const { REDIS_URL, REDIS_PASSWORD_FILE } = config;
  if (REDIS_PASSWORD_FILE === undefined) return config;
  try {
    if (REDIS_URL === undefined) throw new Error("it needs REDIS_URL");
    const password = readFileSync(REDIS_PASSWORD_FILE, "utf8").trim();
    return { ...config, REDIS_URL: withPassword(REDIS_URL, password) };
  } catch (error) {
    const place = placeOf("REDIS_PASSWORD_FILE", { env, file });
    throw new WrongConfiguration([{ ...place, what: (error as Error).message }]);
  }
}
