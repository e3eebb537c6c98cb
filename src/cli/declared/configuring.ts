/** The declared arguments of `config`, and the option that every command takes (takeConfigFile in environment.ts). */

export const ofEveryCommand = {
  config: {
    type: "string",
    description: "A configuration file, YAML or JSON; every command takes it (default: UNITY_BROKER_CONFIG)",
  },
} as const;

export const config = {
  meta: { name: "config", description: "Checks the configuration" },
} as const;

export const check = {
  meta: { name: "check", description: "Finds everything that is wrong with a configuration" },
  args: {
    file: {
      type: "positional",
      description: "The file (default: that of --config or UNITY_BROKER_CONFIG)",
      required: false,
    },
    json: { type: "boolean", description: "The problems as JSON", default: false },
  },
} as const;

export const schema = {
  meta: { name: "schema", description: "Prints the JSON Schema of a configuration file, for editors" },
  args: {},
} as const;
