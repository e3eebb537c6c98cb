/** The commands that send one request and print the answer: status, cancel, list, explain, editors, tools. */
import type { Answer } from "../../shared/operation/answer.js";
import type { TimelineEntry } from "../../shared/operation/timeline.js";
import { printableJson } from "../../shared/printable.js";
import { askBroker } from "../client/ask-broker.js";
import { accepted } from "../client/broker-client.js";
import { EXIT, exitCodeOf } from "../client/exit-codes.js";
import {
  type Colours,
  editorsIn,
  renderAnswer,
  renderClients,
  renderEditors,
  renderOperations,
  renderTimeline,
  renderTools,
  type ShownClient,
  type UnityTool,
} from "../client/render.js";
import { type Run, UsageError } from "../command.js";
import type * as declared from "../declared/asking.js";
import { PAUSES } from "../declared/asking.js";

/** A command about one operation, answered by one tool of the broker. */
function aboutOperation(
  tool: string,
  render: (answer: Answer, colours: Colours, self: string) => string,
  exitCode: (answer: Answer) => number,
): Run<typeof declared.status> {
  return ({ args }) =>
    askBroker({ serves: false }, async ({ client, colours, print, self }) => {
      const answer = await client.call(tool, { log_id: args.log_id });
      await print(args.json ? printableJson(answer) : render(answer, colours, self));
      return exitCode(answer);
    });
}

/** The request was answered, whatever the answer is. */
const found = (answer: Answer): number => (answer.status === "not_found" ? EXIT.notFound : EXIT.ok);

export const status = aboutOperation("get_operation_status", renderAnswer, exitCodeOf);

export const cancel = aboutOperation("cancel_operation", renderAnswer, found);

export const explain = aboutOperation(
  "explain_operation",
  (answer, colours, self) =>
    Array.isArray(answer.timeline)
      ? renderTimeline(answer as Answer & { timeline: TimelineEntry[] }, colours)
      : renderAnswer(answer, colours, self),
  found,
);

export const list: Run<typeof declared.list> = ({ args }) => {
  const limit = Number(args.limit ?? 20);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    throw new UsageError(`--limit ${args.limit} is not a number from 1 to 100`);
  return askBroker({ serves: false }, async ({ client, colours, print }) => {
    const { operations } = accepted(await client.call("list_operations", { limit }));
    await print(
      args.json ? printableJson(operations) : renderOperations(operations as Answer[], Date.now(), colours),
    );
    return EXIT.ok;
  });
};

export const editors: Run<typeof declared.editors> = async ({ args }) => {
  if (args.action === "claim") return (await import("./editors/claim.js")).claimEditor(args);
  if (args.action === "forget") return (await import("./editors/upkeep.js")).forget(args);
  const pausing = PAUSES.find((action) => action === args.action);
  if (pausing) return (await import("./editors/upkeep.js")).pause(pausing, args);
  if (args.action !== undefined)
    throw new UsageError(`editors ${args.action}: only pause, drain, resume, claim, and forget are known`);
  await askBroker({ serves: true }, async ({ client, colours, print }) => {
    // A broker that has just begun has to find its Editors first: the list of tools waits for those that run here.
    await client.tools();
    const { clients, ...listed } = await client.call("list_editors");
    const editors = editorsIn(listed);
    const connected = renderClients(clients as ShownClient[], Date.now());
    const shown = [renderEditors(editors, Date.now(), colours), ...(connected ? ["", connected] : [])];
    await print(args.json ? printableJson(editors) : shown.join("\n"));
    return EXIT.ok;
  });
};

export const tools: Run<typeof declared.tools> = ({ args }) =>
  askBroker({ serves: true }, async ({ client, colours, print }) => {
    const all = await client.tools();
    const shown = all.map(({ name, description, annotations }) => ({
      name,
      // The Editors' names come first, for clients that show the description alone.
      description: description?.replace(/^\[Unity Editors? [^\]]*\] /, ""),
      readOnly: annotations?.readOnlyHint === true,
    }));
    if (args.json) await print(printableJson(all));
    else {
      const { tools: unity } = accepted(await client.call("list_unity_tools"));
      await print(renderTools(shown, colours, process.stdout.columns, unity as UnityTool[]));
    }
    return EXIT.ok;
  });
