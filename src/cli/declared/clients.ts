/** The declared arguments of the commands that add the broker to an MCP client's configuration, and remove it. */
import table from "../clients/clients.json" with { type: "json" };

const place = {
  client: {
    type: "positional",
    required: false,
    description: table.clients.map(({ id }) => id).join(", "),
  },
  all: { type: "boolean", description: "Every client that is found on this machine", default: false },
  project: {
    type: "string",
    description: "The file of the project in this folder (default: the current one)",
  },
  name: { type: "string", description: "The server's name in the client", default: "unity" },
  force: { type: "boolean", description: "Also when that name belongs to another server", default: false },
  print: { type: "boolean", description: "Print what would be done and write nothing", default: false },
  json: { type: "boolean", description: "Print the outcome as JSON", default: false },
} as const;

export const install = {
  meta: { name: "install", description: "Adds the broker to an MCP client's configuration" },
  args: {
    ...place,
    http: {
      type: "string",
      description: "Reach a running gateway at this address (default: this machine's)",
    },
    token: { type: "string", description: "With --http: the bearer token; - reads it from stdin" },
    "token-file": { type: "string", description: "With --http: the file with the token, mode 0600" },
  },
  mayBeEmpty: ["project", "http"],
} as const;

export const uninstall = {
  meta: { name: "uninstall", description: "Takes the broker out of an MCP client's configuration" },
  args: place,
  mayBeEmpty: ["project"],
} as const;
