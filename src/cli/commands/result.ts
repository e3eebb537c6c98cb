/** `unity-broker result`: shows an operation, at once or when it has ended. */

import { printableJson } from "../../shared/printable.js";
import { askBroker } from "../client/ask-broker.js";
import { exitCodeOf } from "../client/exit-codes.js";
import { createProgressView, waitForResult } from "../client/follow.js";
import { tellRead } from "../client/read-by-name.js";
import { renderAnswer } from "../client/render.js";
import { reportsSuccess } from "../client/success.js";
import { withWholeResult } from "../client/whole-result.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/asking.js";
import { secondsIn } from "./call.js";

export const result: Run<typeof declared.result> = async ({ args }) => {
  const seconds = args.follow ? Number.POSITIVE_INFINITY : secondsIn(args.timeout, 0);
  await askBroker({ serves: seconds > 0 }, async ({ client, colours, print, self, signal }) => {
    const view = args.follow ? createProgressView(process.stderr) : undefined;
    const waiting = waitForResult(client, args.log_id, { seconds, signal, onProgress: view?.show });
    const answer = await waiting.finally(view?.close);
    const shown = process.stdout.isTTY && !args.json ? answer : await withWholeResult(client, answer);
    const isPrinted = await print(args.json ? printableJson(shown) : renderAnswer(shown, colours, self));
    if (isPrinted) await tellRead(client, answer);
    return exitCodeOf(answer, await reportsSuccess(client, answer));
  });
};
