/** The configuration from all its sources. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { type Config, readConfig } from "../../shared/config.js";
import { withPassword } from "../../shared/redis-url.js";
import { fileProblems, issueProblems, type Problem, WrongConfiguration } from "./problems.js";
import { fileTexts, nameOf, type SettingSources, settingSources } from "./sources.js";

/** Throws WrongConfiguration. What is wrong in the file counts also where a variable takes its place. */
export function readConfiguration(sources: SettingSources = settingSources()): Config {
  const { file } = sources;
  const inFile = file ? [...fileProblems(file), ...parse({ file, texts: fileTexts(file) }).problems] : [];
  const { config, problems } = parse(sources);
  const elsewhere = problems.filter((problem) => problem.file === undefined);
  if (config && inFile.length === 0) return withRedisPassword(config, sources);
  throw new WrongConfiguration([...inFile, ...elsewhere]);
}

function parse(sources: SettingSources): { config?: Config; problems: Problem[] } {
  try {
    const texts = [...sources.texts].map(([name, { text }]) => [name, text] as const);
    return { config: readConfig(Object.fromEntries(texts)), problems: [] };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return { problems: issueProblems(error.issues, sources) };
  }
}

/** An environment is shown by `docker inspect` and inherited; a file is neither. */
function withRedisPassword(config: Config, { texts }: SettingSources): Config {
  const { REDIS_URL, REDIS_PASSWORD_FILE: file } = config;
  if (file === undefined) return config;
  try {
    if (REDIS_URL === undefined) throw new Error("it needs REDIS_URL");
    const password = readFileSync(file, "utf8").trim();
    return { ...config, REDIS_URL: withPassword(REDIS_URL, password) };
  } catch (error) {
    const source = texts.get("REDIS_PASSWORD_FILE")?.source ?? { from: "environment" };
    const place = source.from === "file" ? { file: source.path, ...source.value.place } : {};
    const key = nameOf("REDIS_PASSWORD_FILE", source);
    throw new WrongConfiguration([{ ...place, key, what: (error as Error).message }]);
  }
}
