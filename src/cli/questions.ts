/** The commands that ask one thing and print the answer: status, cancel, list, explain, editors, tools. */
import type { Answer } from "../shared/answer.js";
import { printableJson } from "../shared/printable.js";
import type { TimelineEntry } from "../shared/timeline.js";
import { claimEditor } from "./claim.js";
import { EXIT, exitCodeOf } from "./client/exit-codes.js";
import {
  type Colours,
  renderAnswer,
  renderEditors,
  renderOperations,
  renderTimeline,
  renderTools,
  type ShownEditor,
} from "./client/render.js";
import { askBroker } from "./client/session.js";
import { command, UsageError } from "./command.js";
import { forget } from "./forget.js";

const json = { type: "boolean", description: "The answer as JSON", default: false } as const;
const log_id = {
  type: "positional",
  description: "The log_id that an earlier answer gave",
  required: true,
} as const;

/** A command about one operation, answered by one tool of the broker. */
function aboutOperation(
  name: string,
  description: string,
  tool: string,
  render: (answer: Answer, colours: Colours, self: string) => string,
  exitCode: (answer: Answer) => number,
) {
  return command({
    meta: { name, description },
    args: { log_id, json },
    run: ({ args }) =>
      askBroker({ serves: false }, async ({ client, colours, print, self }) => {
        const answer = await client.call(tool, { log_id: args.log_id });
        await print(args.json ? printableJson(answer) : render(answer, colours, self));
        return exitCode(answer);
      }),
  });
}

/** The question was answered, whatever the answer is. */
const found = (answer: Answer): number => (answer.status === "not_found" ? EXIT.notFound : EXIT.ok);

export const status = aboutOperation(
  "status",
  "Says where an operation stands, without its result",
  "get_operation_status",
  renderAnswer,
  exitCodeOf,
);

export const cancel = aboutOperation(
  "cancel",
  "Cancels an operation that waits; asks the Editor to cancel one that runs",
  "cancel_operation",
  renderAnswer,
  found,
);

export const explain = aboutOperation(
  "explain",
  "Tells an operation's story: why it ran once, and who was told",
  "explain_operation",
  (answer, colours, self) =>
    Array.isArray(answer.timeline)
      ? renderTimeline(answer as Answer & { timeline: TimelineEntry[] }, colours)
      : renderAnswer(answer, colours, self),
  found,
);

export const list = command({
  meta: { name: "list", description: "Lists your operations, the latest first" },
  args: { limit: { type: "string", description: "How many at most (default 20, up to 100)" }, json },
  run: ({ args }) => {
    const limit = Number(args.limit ?? 20);
    if (!Number.isInteger(limit) || limit < 1 || limit > 100)
      throw new UsageError(`--limit ${args.limit} is not a number from 1 to 100`);
    return askBroker({ serves: false }, async ({ client, colours, print }) => {
      const { operations } = await client.call("list_operations", { limit });
      await print(
        args.json ? printableJson(operations) : renderOperations(operations as Answer[], Date.now(), colours),
      );
      return EXIT.ok;
    });
  },
});

export const editors = command({
  meta: {
    name: "editors",
    description:
      "Lists the Unity Editors that the broker knows; `editors claim <editor>` takes one over, `editors forget <editor>` drops one that is gone",
  },
  args: {
    action: {
      type: "positional",
      description: "claim: take an Editor over from another broker; forget: it will not come back",
      required: false,
    },
    editor: {
      type: "positional",
      description: "Its project's name, its id, or the id's unique beginning",
      required: false,
    },
    force: {
      type: "boolean",
      description:
        "claim: also while operations of the other broker are open there; forget: also while its worker waits for it",
      default: false,
    },
    json,
  },
  run: ({ args }) => {
    if (args.action === "claim") return claimEditor(args);
    if (args.action === "forget") return forget(args);
    if (args.action !== undefined)
      throw new UsageError(`editors ${args.action}: only "claim" and "forget" are known`);
    return askBroker({ serves: true }, async ({ client, colours, print }) => {
      const answer = await client.call("list_editors");
      await print(
        args.json ? printableJson(answer.editors) : renderEditors(answer.editors as ShownEditor[], colours),
      );
      return EXIT.ok;
    });
  },
});

export const tools = command({
  meta: { name: "tools", description: "Lists the tools of the Unity Editors" },
  args: { json },
  run: ({ args }) =>
    askBroker({ serves: true }, async ({ client, colours, print }) => {
      const all = await client.tools();
      const shown = all.map(({ name, description, annotations }) => ({
        name,
        // The Editors' names come first, for whoever reads it alone.
        description: description?.replace(/^\[Unity Editors? [^\]]*\] /, ""),
        readOnly: annotations?.readOnlyHint === true,
      }));
      await print(args.json ? printableJson(all) : renderTools(shown, colours, process.stdout.columns));
      return EXIT.ok;
    }),
});
