/** `unity-broker config`: the settings in effect, what is wrong with a file, and the schema of files. */
import { resolve } from "node:path";
import { printableJson, printableValues } from "../../shared/printable.js";
import { CONFIG_FILE } from "../../shared/setting-names.js";
import { print as printText } from "../client/ask-broker.js";
import { EXIT } from "../client/exit-codes.js";
import { coloursFor } from "../client/render.js";
import type { Run } from "../command.js";
import { effectiveSettings, renderSettings } from "../configuration/effective.js";
import { fileSchema } from "../configuration/file-schema.js";
import { type Problem, problemLine, shortPath, WrongConfiguration } from "../configuration/problems.js";
import { readConfiguration } from "../configuration/read-configuration.js";
import { settingSources } from "../configuration/sources.js";
import type * as declared from "../declared/configuring.js";
import { environment, givenSettings } from "../environment.js";

export const print: Run<typeof declared.print> = async ({ args }) => {
  const sources = settingSources();
  const settings = printableValues(effectiveSettings(readConfiguration(sources), sources));
  const file = sources.file
    ? `File: ${sources.file.path}`
    : "No file: --config or UNITY_BROKER_CONFIG names one.";
  await printText(
    args.json
      ? printableJson({ file: sources.file?.path ?? null, settings })
      : `${file}\n${renderSettings(settings, coloursFor(process.stdout, environment()))}`,
  );
};

export const check: Run<typeof declared.check> = async ({ args }) => {
  const named = args.file === undefined ? environment()[CONFIG_FILE] : resolve(args.file);
  const sources = settingSources({ ...environment(), [CONFIG_FILE]: named }, givenSettings());
  const problems = problemsIn(() => readConfiguration(sources));
  const count = sources.file?.values.size ?? 0;
  if (args.json) await printText(printableJson({ file: named ?? null, problems }));
  else if (problems.length > 0) await printText(printableValues(problems).map(problemLine).join("\n"));
  else
    await printText(
      named === undefined
        ? "No file is named; the environment has no problems."
        : `${shortPath(named)} has no problems: ${count === 1 ? "1 setting" : `${count} settings`}.`,
    );
  process.exitCode = problems.length > 0 ? EXIT.usage : EXIT.ok;
};

export const schema: Run<typeof declared.schema> = async () => {
  await printText(JSON.stringify(fileSchema(), undefined, 2));
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
