/** The JSON Schema of a configuration file, from the schema of all settings: editors complete and check files by it. */
import { z } from "zod";
import { CONFIG } from "../../shared/config.js";
import {
  FILE_SETTINGS,
  type FileSetting,
  formOf,
  keyOf,
  type SettingForm,
} from "../../shared/setting-names.js";

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
