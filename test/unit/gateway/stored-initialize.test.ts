/** What a gateway that takes a session over believes of its client's capabilities: what the first one believed. */
import { InitializeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { expect, test } from "vitest";
import { storedInitialize } from "../../../src/gateway/mcp/revision-2025/stored-initialize.js";
import { INITIALIZE } from "../../harness/mcp/mcp.js";

const asGiven = (capabilities: object) => ({ ...INITIALIZE, params: { ...INITIALIZE.params, capabilities } });

test.each([
  ["an empty elicitation means forms", { elicitation: {} }, { elicitation: { form: {} } }],
  ["neither forms nor links: it can ask nothing", { elicitation: { foo: 1 } }, {}],
  ["forms", { elicitation: { form: { applyDefaults: true } } }, { elicitation: { form: {} } }],
  ["links alone", { elicitation: { url: {} } }, { elicitation: { url: {} } }],
  ["both", { elicitation: { form: {}, url: {} } }, { elicitation: { form: {}, url: {} } }],
  ["none", {}, {}],
])("%s", (_, capabilities, kept) => {
  const stored = storedInitialize(asGiven(capabilities));
  expect(stored?.params.capabilities).toEqual(kept);
  // As the SDK reads both, the client can be asked the same.
  const read = (request: unknown) => InitializeRequestSchema.parse(request).params.capabilities.elicitation;
  const canBeAsked = (of: ReturnType<typeof read>) => [of?.form !== undefined, of?.url !== undefined];
  expect(canBeAsked(read(stored))).toEqual(canBeAsked(read(asGiven(capabilities))));
});
