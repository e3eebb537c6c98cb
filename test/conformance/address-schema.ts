/** An input schema with a dialect, a definition, an anchor, combinations and a condition: what a gateway could lose of it. */
import type { JsonObjectSchema } from "../../src/shared/tools/tool.js";

export const ADDRESS_SCHEMA: JsonObjectSchema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  $defs: {
    address: {
      $anchor: "addressDef",
      type: "object",
      properties: { street: { type: "string" }, city: { type: "string" } },
    },
  },
  properties: {
    name: { type: "string" },
    address: { $ref: "#/$defs/address" },
    contactMethod: { type: "string", enum: ["phone", "email"] },
    phone: { type: "string" },
    email: { type: "string" },
  },
  allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
  if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's keyword.
  then: { required: ["phone"] },
  else: { required: ["email"] },
  additionalProperties: false,
};
