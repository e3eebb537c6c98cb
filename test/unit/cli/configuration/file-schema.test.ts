/** The published JSON Schema of a configuration file is that of the settings, and editors can read it. */
import { readFileSync, writeFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { fileSchema } from "../../../../src/cli/commands/config.js";
import { FILE_SETTINGS, keyOf } from "../../../../src/shared/setting-names.js";

const PUBLISHED = new URL("../../../../config.schema.json", import.meta.url);
const drawn = `${JSON.stringify(fileSchema(), undefined, 2)}\n`;
if (process.env.UPDATE_GOLDEN) writeFileSync(PUBLISHED, drawn);
const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(fileSchema());

test("the published schema is the present one", () => {
  expect(readFileSync(PUBLISHED, "utf8")).toBe(drawn);
});

test("every key has a type and a description", () => {
  type Node = { type?: unknown; description?: string; properties?: Record<string, Node> };
  const bare = FILE_SETTINGS.filter((name) => {
    const found = keyOf(name)
      .split(".")
      .reduce((node: Node | undefined, part) => node?.properties?.[part], fileSchema() as Node);
    return !found?.description || found.type === undefined;
  });
  expect(bare).toEqual([]);
});

test("it takes the example of the documentation, and refuses mistakes", () => {
  const page = readFileSync(new URL("../../../../docs/reference/configuration.md", import.meta.url), "utf8");
  const [, example = ""] = /```yaml\n([\s\S]*?)```/.exec(page) ?? [];
  expect(validate(parse(example)), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ gateway: { prot: 1 } })).toBe(false);
  expect(validate({ tools: { x: { execution_class: "hours" } } })).toBe(false);
  expect(validate({ limits: { running: 0 } })).toBe(false);
});
