/** `unity-broker config`: what is wrong with a file, and the schema of files. */
import { resolve } from "node:path";
import { printableJson, printableValues } from "../../shared/printable.js";
import { CONFIG_FILE } from "../../shared/setting-names.js";
import { print } from "../client/ask-broker.js";
import { EXIT } from "../client/exit-codes.js";
import type { Run } from "../command.js";
import { configFileOf } from "../configuration/config-file.js";
import { fileSchema } from "../configuration/file-schema.js";
import { type Problem, problemLine, shortPath, WrongConfiguration } from "../configuration/problems.js";
import { readConfiguration } from "../configuration/read-configuration.js";
import type * as declared from "../declared/configuring.js";
import { environment } from "../environment.js";

export const check: Run<typeof declared.check> = async ({ args }) => {
  const named = args.file === undefined ? environment()[CONFIG_FILE] : resolve(args.file);
  const env = { ...environment(), [CONFIG_FILE]: named };
  const file = configFileOf(env);
  const problems = problemsIn(() => readConfiguration(env, file));
  const count = file?.values.size ?? 0;
  if (args.json) await print(printableJson({ file: named ?? null, problems }));
  else if (problems.length > 0) await print(printableValues(problems).map(problemLine).join("\n"));
  else
    await print(
      named === undefined
        ? "No file is named; the environment has no problems."
        : `${shortPath(named)} has no problems: ${count === 1 ? "1 setting" : `${count} settings`}.`,
    );
  process.exitCode = problems.length > 0 ? EXIT.usage : EXIT.ok;
};

export const schema: Run<typeof declared.schema> = async () => {
  await print(JSON.stringify(fileSchema(), undefined, 2));
};

function problemsIn(read: () => void): readonly Problem[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof WrongConfiguration) return error.problems;
    throw error;
  }
}
