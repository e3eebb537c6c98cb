/** ping, get-logs (the only two that run beside the main thread) and clear-console. */
import { parameters, QUICK_BESIDE, QUICK_ON_MAIN, type SimulatedTool } from "../tool-definition.js";

export const ping: SimulatedTool = {
  name: "ping",
  description: "Answers with the message, without touching Unity.",
  inputSchema: parameters({
    Message: { type: "string", description: "Text to send back", default: "Hello" },
  }),
  effect: "read_only",
  ...QUICK_BESIDE,
  async run({ args }) {
    return { Message: `Unity Editor received: ${args.text("Message", "Hello")}` };
  },
};

export const getLogs: SimulatedTool = {
  name: "get-logs",
  description: "Reads the newest lines of the Editor console.",
  inputSchema: parameters({
    LogType: {
      type: "string",
      description: "Which lines",
      enum: ["All", "Log", "Warning", "Error"],
      default: "All",
    },
    MaxCount: { type: "integer", description: "At most this many", minimum: 1, default: 100 },
    SearchText: { type: "string", description: "Only lines that contain this text", default: "" },
  }),
  effect: "read_only",
  ...QUICK_BESIDE,
  async run({ args, world }) {
    const type = args.text("LogType", "All");
    const search = args.text("SearchText", "");
    const matching = world.logs.filter(
      (line) => (type === "All" || line.LogType === type) && line.Message.includes(search),
    );
    const Logs = matching.slice(-args.number("MaxCount", 100));
    return { TotalCount: matching.length, DisplayedCount: Logs.length, AsOf: Date.now(), Logs };
  },
};

export const clearConsole: SimulatedTool = {
  name: "clear-console",
  description: "Empties the Editor console.",
  inputSchema: parameters({}),
  effect: "idempotent",
  ...QUICK_ON_MAIN,
  async run({ world }) {
    const ClearedLogCount = world.logs.length;
    world.logs.length = 0;
    return { Success: true, ClearedLogCount };
  },
};
