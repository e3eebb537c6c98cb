/** The declared arguments of `run`, the command for pipelines. */

/** How long it waits if nobody says. */
export const DEFAULT_WAIT = "2h";

export const run = {
  meta: {
    name: "run",
    description: "Runs a tool of a Unity Editor in a pipeline: waits for its end, once for each key",
  },
  args: {
    tool: { type: "positional", description: "The tool, see `unity-broker tools`", required: false },
    arguments: { type: "positional", description: "Its arguments as a JSON object", required: false },
    json: { type: "string", description: "The same, as an option" },
    editor: {
      type: "string",
      description: "The Editor: its project's name, its id, or the id's unique beginning",
    },
    pool: {
      type: "string",
      description: "Any Editor with these labels, for example android or android,linux",
    },
    "if-away": {
      type: "string",
      description: "While no Editor for it is connected: wait (the default), or refuse",
    },
    wait: {
      type: "string",
      description: `How long to wait: 90s, 10m, 2h (default ${DEFAULT_WAIT}); then it goes on by itself`,
    },
    key: {
      type: "string",
      description: "Names this step of the pipeline: started again with it, the command finds its operation",
    },
    once: {
      type: "boolean",
      description: "Do not run again after the outcome was read: answer the recorded one",
      default: false,
    },
    "force-new": {
      type: "string",
      description: "The log_id of an operation of this call to supersede, after an unknown outcome",
    },
    "log-id": { type: "string", description: "Go on waiting for this operation, without a tool" },
    "cancel-on-interrupt": {
      type: "boolean",
      description: "Ctrl-C and SIGTERM cancel the operation",
      default: false,
    },
    junit: { type: "string", description: "Write the results of run-tests to this file as JUnit XML" },
    log: {
      type: "boolean",
      description: "Show what the Unity Console says meanwhile",
      negativeDescription: "Do not show what the Unity Console says meanwhile",
      default: true,
    },
    "project-folder": {
      type: "string",
      description: "The Unity project's folder in the repository, for the files in reports",
    },
    output: { type: "string", description: "text, or json: the last line of stdout is the answer" },
  },
} as const;
