/** ping, get-logs (the only two that run beside the main thread) and clear-console. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { boundedExpression } from "../expression.js";

export const ping = bridgeTool("ping", {
  async run({ args }) {
    return { Message: `Unity Editor received: ${args.text("Message", "Hello")}` };
  },
});

export const getLogs = bridgeTool("get-logs", {
  async run({ args, world }) {
    const type = args.text("LogType", "All");
    const search = args.text("SearchText", "");
    const fits = args.flag("UseRegex", false)
      ? boundedExpression("SearchText", search)
      : (text: string): boolean => text.includes(search);
    // Its lines have no stack traces, so SearchInStackTrace finds nothing more.
    const matching = world.logs.filter(
      (line) => (type === "All" || line.LogType === type) && fits(line.Message),
    );
    const newest = matching.slice(-args.number("MaxCount", 100));
    const Logs = args.flag("IncludeStackTrace", false)
      ? newest.map((line) => ({ ...line, StackTrace: "" }))
      : newest;
    return { TotalCount: matching.length, DisplayedCount: Logs.length, AsOf: Date.now(), Logs };
  },
});

export const clearConsole = bridgeTool("clear-console", {
  async run({ world }) {
    const ClearedLogCount = world.logs.length;
    world.logs.length = 0;
    return { Success: true, ClearedLogCount };
  },
});
