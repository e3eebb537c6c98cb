/** `unity-broker config`: what is wrong with a file, and the schema of files. */

import { resolve } from "node:path";
import { z } from "zod";
import { CONFIG } from "../../shared/config.js";
import { printableJson, printableValues } from "../../shared/printable.js";
import {
  CONFIG_FILE,
  FILE_SETTINGS,
  type FileSetting,
  formOf,
  keyOf,
  type SettingForm,
} from "../../shared/setting-names.js";
import { print } from "../client/ask-broker.js";
import { EXIT } from "../client/exit-codes.js";
import type { Run } from "../command.js";
import { configFileOf } from "../configuration/config-file.js";
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

// The JSON Schema of a configuration file, from the schema of all settings: editors complete and check files by it.

type Json = Record<string, unknown>;

/** What a file may write in place of a text. */
const FORMS: Partial<Record<SettingForm, Json>> = {
  text: { type: ["string", "number", "boolean"] },
  path: { type: "string" },
  list: { type: ["array", "string"], items: { type: "string" } },
  pairs: { type: ["object", "string"], additionalProperties: { type: ["string", "number"] } },
};

export function fileSchema(): Json {
  const properties: Record<string, Json> = {};
  for (const name of FILE_SETTINGS) {
    const [section = "", own] = keyOf(name).split(".");
    if (own === undefined) properties[section] = settingSchema(name);
    else {
      const known = properties[section] ?? { type: "object", additionalProperties: false, properties: {} };
      properties[section] = {
        ...known,
        properties: { ...(known.properties as Json), [own]: settingSchema(name) },
      };
    }
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "Configuration of unity-broker",
    type: "object",
    additionalProperties: false,
    properties,
  };
}

function settingSchema(name: FileSetting): Json {
  const { $schema: _dialect, ...read } = z.toJSONSchema(CONFIG[name], {
    io: "output",
    unrepresentable: "any",
  }) as Json;
  // What is made of a text has no type of its own here.
  return read.type === undefined || Array.isArray(read.type) ? { ...FORMS[formOf(name)], ...read } : read;
}
