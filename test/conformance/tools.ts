/** The tools that the scenarios of the conformance suite call, as tools of a simulated Editor. */
import { parameters, QUICK_ON_MAIN, type SimulatedTool } from "../../src/simulator/tool-definition.js";
import { ADDRESS_SCHEMA } from "./address-schema.js";

/** One red pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/** A WAV file without samples. */
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

const text = (said: string) => ({ type: "text", text: said });
const image = { type: "image", data: PNG, mimeType: "image/png" };
const resource = (uri: string, mimeType: string, said: string) => ({
  type: "resource",
  resource: { uri, mimeType, text: said },
});

/** A tool that answers at once; it reads only, so that each call of it runs. */
function answering(name: string, content: readonly object[]): SimulatedTool {
  return quick(name, `Answers ${content.length} block(s) of content.`, async () => ({ content }));
}

function quick(
  name: string,
  description: string,
  run: SimulatedTool["run"],
  more: Partial<SimulatedTool> = {},
): SimulatedTool {
  return {
    name,
    description,
    inputSchema: parameters({}),
    effect: "read_only",
    ...QUICK_ON_MAIN,
    run,
    ...more,
  };
}

function slow(
  name: string,
  inputSchema: SimulatedTool["inputSchema"],
  run: SimulatedTool["run"],
): SimulatedTool {
  const more = { inputSchema, cancellable: true, blocksMainThread: false } as const;
  return quick(name, "Takes its time.", run, more);
}

/** Longer than the shortest time between two notifications of progress (progress-notifier.ts), seconds. */
const STEP_SECONDS = 0.3;

const CONTENT = [
  answering("test_simple_text", [text("This is a simple text response for testing.")]),
  answering("test_image_content", [image]),
  answering("test_audio_content", [{ type: "audio", data: WAV, mimeType: "audio/wav" }]),
  answering("test_embedded_resource", [
    resource("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ]),
  answering("test_multiple_content_types", [
    text("Multiple content types test:"),
    image,
    resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ]),
];

/** The gateway asks its user before it runs one of these; a repeatable one runs again, where a mutating one would be replayed. */
const ASKED = [
  "test_elicitation",
  "test_streaming_elicitation",
  "test_input_required_result_elicitation",
  "test_input_required_result_request_state",
  "test_input_required_result_tampered_state",
].map((name) =>
  quick(name, "May change something.", async () => ({ content: [text("Did it.")] }), {
    inputSchema: parameters({ message: { type: "string" } }),
    effect: "idempotent",
    destructive: true,
  }),
);

/** Tools of which the suite expects tasks, where they take longer than a call waits. */
const LONG = [
  quick("greet", "Greets.", async ({ args }) => ({ content: [text(`Hello, ${args.text("name")}!`)] }), {
    inputSchema: parameters({ name: { type: "string" } }, ["name"]),
  }),
  slow(
    "slow_compute",
    parameters({ seconds: { type: "number" }, label: { type: "string" } }),
    async ({ args, wait }) => {
      await wait(args.number("seconds", 0));
      return { content: [text("Computed.")] };
    },
  ),
  slow("failing_job", parameters({}), async ({ wait }) => {
    await wait(1.5);
    throw new Error("This job fails.");
  }),
];

export const FIXTURES: readonly SimulatedTool[] = [
  ...CONTENT,
  ...ASKED,
  ...LONG,
  quick("test_error_handling", "Always fails.", async () => {
    throw new Error("This tool intentionally returns an error for testing");
  }),
  quick(
    "test_tool_with_progress",
    "Reports progress in three steps.",
    async ({ progress, wait }) => {
      for (const at of [0, 50, 100]) {
        progress({ progress: at, total: 100 });
        await wait(STEP_SECONDS);
      }
      return { content: [text("Reported 0, 50 and 100 of 100.")] };
    },
    { blocksMainThread: false },
  ),
  ...["test_tool_with_logging", "test_logging_tool"].map((name) =>
    quick(
      name,
      "Writes three lines to the Console.",
      async ({ world, wait }) => {
        world.log("Log", "Tool execution started");
        await wait(0.05);
        world.log("Log", "Tool processing data");
        await wait(0.05);
        world.log("Log", "Tool execution completed");
        return { content: [text("Wrote three lines.")] };
      },
      { blocksMainThread: false },
    ),
  ),
  quick("json_schema_2020_12_tool", "Has an input schema with more than names and types.", async () => ({}), {
    inputSchema: ADDRESS_SCHEMA,
  }),
];

/** The tool that changes the Editor's list of tools. */
export const changing = (change: () => void): SimulatedTool =>
  quick("test_trigger_tool_change", "Changes the list of tools.", async () => {
    change();
    return { content: [text("Changed it.")] };
  });
