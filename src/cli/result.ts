/** `unity-broker result`: what became of an operation, now or when it has ended. */

import { printableJson } from "../shared/printable.js";
import { secondsIn } from "./call.js";
import { exitCodeOf } from "./client/exit-codes.js";
import { createProgressView, waitForResult } from "./client/follow.js";
import { renderAnswer } from "./client/render.js";
import { askBroker } from "./client/session.js";
import { withWholeResult } from "./client/whole-result.js";
import { command } from "./command.js";

export const result = command({
  meta: { name: "result", description: "Shows an operation with its result" },
  args: {
    log_id: { type: "positional", description: "The log_id that an earlier answer gave", required: true },
    timeout: { type: "string", description: "Seconds to wait for its end (default 0)" },
    follow: { type: "boolean", description: "Wait until its end, with progress", default: false },
    json: { type: "boolean", description: "The answer as JSON", default: false },
  },
  async run({ args }) {
    const seconds = args.follow ? Number.POSITIVE_INFINITY : secondsIn(args.timeout, 0);
    await askBroker({ serves: seconds > 0 }, async ({ client, colours, print, self, signal }) => {
      const view = args.follow ? createProgressView(process.stderr) : undefined;
      const answer = await waitForResult(client, args.log_id, { seconds, signal, onProgress: view?.show });
      view?.close();
      const shown = process.stdout.isTTY && !args.json ? answer : await withWholeResult(client, answer);
      await print(args.json ? printableJson(shown) : renderAnswer(shown, colours, self));
      return exitCodeOf(answer);
    });
  },
});
