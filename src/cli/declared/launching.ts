/** The declared arguments of `launch`, which opens a project in Unity. */

/** How long it waits if nobody says: the first import of a project takes longer. */
export const DEFAULT_LAUNCH_WAIT = "10m";

export const launch = {
  meta: {
    name: "launch",
    description:
      "Opens a project in the Unity Editor of its version, and waits until the broker has it; behind `--` more arguments for Unity",
  },
  passesOn: true,
  args: {
    project: { type: "positional", description: "The Unity project's folder", required: true },
    batch: { type: "boolean", description: "Without windows (-batchmode)", default: false },
    label: {
      type: "string",
      description: "Which pools the Editor is in: labels between commas, for example android,gpu",
    },
    allow: {
      type: "string",
      description:
        "With --batch: what calls may do there, and nothing else: tests, menu-items, code, builds, play-mode, scenes, assets, packages, a tool's name, assembly:<name>, each also denied by a - in front; or none",
    },
    unity: {
      type: "string",
      description:
        "Unity's executable, an installation, or a folder of installations (default: UNITY_BROKER_UNITY, then what the Unity Hub has)",
    },
    timeout: {
      type: "string",
      description: `How long to wait: 90s, 10m, 2h (default ${DEFAULT_LAUNCH_WAIT}); then the Editor goes on starting`,
    },
    json: { type: "boolean", description: "The outcome as JSON", default: false },
  },
} as const;
