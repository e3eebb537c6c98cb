/** The declared arguments of the commands that start and end processes. */

const address = {
  host: { type: "string", description: "Address to listen on; anything but loopback needs tokens" },
  port: { type: "string", description: "Port to listen on; 0 takes a free one" },
  "insecure-local": {
    type: "boolean",
    description: "No token: every program and user of this machine may run tools in your Editors",
    default: false,
  },
} as const;

export const up = {
  meta: { name: "up", description: "Redis (private unless REDIS_URL), gateway and worker in one process" },
  args: {
    ...address,
    simulate: { type: "boolean", description: "Add a simulated Unity Editor", default: false },
  },
} as const;

export const mcp = {
  meta: { name: "mcp", description: "MCP over stdio: the command that a client starts" },
  args: {
    "in-process": {
      type: "boolean",
      description: "Serve in this process, without a broker in the background",
      default: false,
    },
  },
} as const;

export const broker = {
  meta: {
    name: "broker",
    description: "The background broker, which mcp and the commands start by themselves",
  },
  args: {
    for: { type: "string", description: "For these: only if its settings are those of this place" },
  },
} as const;

export const gateway = {
  meta: { name: "gateway", description: "MCP over Streamable HTTP at /mcp" },
  args: address,
} as const;

export const worker = {
  meta: { name: "worker", description: "Owns the Unity Editors of this machine and runs their jobs" },
  args: {},
} as const;

export const simulate = {
  meta: { name: "simulate", description: "A simulated Unity Editor: real TCP, no Unity" },
  args: {
    port: { type: "string", description: "Port to listen on (default: the first free one from 8700)" },
    project: { type: "string", description: "Path that names the project; need not exist" },
    "counter-file": { type: "string", description: "File that gets a line for every execution that begins" },
    "ledger-folder": { type: "string", description: "Where the Editor's ledger is kept" },
    "time-scale": { type: "string", description: "Multiplies every duration of a tool" },
    labels: { type: "string", description: "Which pools it is in: labels between commas" },
    plain: { type: "boolean", description: "Play an Editor with a plain uLoop bridge", default: false },
    "plain-surface": {
      type: "boolean",
      description: "Let every program and user of this machine call tools, without the token",
      default: false,
    },
    engine: {
      type: "string",
      description: "typescript, or dotnet: the C# bridge itself (needs a checkout and the .NET SDK)",
      default: "typescript",
    },
    control: {
      type: "boolean",
      description: "Obey fault commands on stdin, a JSON object a line",
      default: false,
    },
  },
} as const;

export const down = {
  meta: {
    name: "down",
    description: "Ends the background broker and the private Redis of this user; its data stays",
  },
  args: {},
} as const;

export const demo = {
  meta: { name: "demo", description: "Shows the main job: one call, six times sent, once executed" },
  args: {},
} as const;

export const workers = {
  meta: { name: "workers", description: "Lists the workers that own Unity Editors: host, process, version" },
  args: { json: { type: "boolean", description: "The answer as JSON", default: false } },
} as const;
