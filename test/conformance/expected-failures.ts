/** Scenarios that fail, each with its reason. One that passes here fails the run: its line has to go. */

export interface ExpectedFailure {
  scenario: string;
  /** Only these checks of it may fail; all if left out. */
  checks?: readonly string[];
  /** Only in this revision; in every one that has the scenario if left out. */
  revision?: string;
  reason: string;
}

/** In all. More are a sign that the suite no longer tests what the broker is. */
export const MOST_EXPECTED = 19;

export const EXPECTED_FAILURES: readonly ExpectedFailure[] = [
  {
    scenario: "tools-call-sampling",
    revision: "2025-11-25",
    reason: "A Unity tool has no use for its caller's model: the broker asks for no sampling.",
  },
  {
    scenario: "elicitation-sep1034-defaults",
    revision: "2025-11-25",
    reason: "The broker asks its user for yes or no only; a form of its own no tool can show.",
  },
  {
    scenario: "elicitation-sep1330-enums",
    revision: "2025-11-25",
    reason: "The broker asks its user for yes or no only; a form of its own no tool can show.",
  },
  {
    scenario: "resources-read-text",
    reason: "It reads test://static-text, and the broker's resources are results of operations.",
  },
  {
    scenario: "resources-read-binary",
    reason: "It reads test://static-binary, and the broker's resources are results of operations.",
  },
  {
    scenario: "resources-templates-read",
    reason: "It reads test://template/123/data, and the broker's templates are of results.",
  },
  ...["simple", "with-args", "embedded-resource", "with-image"].map((name) => ({
    scenario: `prompts-get-${name}`,
    reason: "It gets a prompt of the suite's own, and the broker has only those that teach its calls.",
  })),
  {
    scenario: "json-schema-2020-12",
    reason:
      "A list keeps to what the APIs of models take (docs/reference/model-apis.md): no dialects and references.",
  },
  {
    scenario: "server-stateless",
    revision: "2026-07-28",
    checks: ["sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"],
    reason: "It asks for a tool that needs its caller's model, which none of Unity's does.",
  },
  {
    scenario: "input-required-result-basic-elicitation",
    revision: "2026-07-28",
    reason: "It wants a question of the tool's own, user_name; the broker's question is confirm.",
  },
  {
    scenario: "input-required-result-basic-sampling",
    revision: "2026-07-28",
    reason: "A tool asks for its caller's model or folders; the broker asks for a yes or no only.",
  },
  {
    scenario: "input-required-result-basic-list-roots",
    revision: "2026-07-28",
    reason: "A tool asks for its caller's model or folders; the broker asks for a yes or no only.",
  },
  {
    scenario: "input-required-result-multiple-input-requests",
    revision: "2026-07-28",
    reason: "A tool asks for its caller's model or folders; the broker asks for a yes or no only.",
  },
  {
    scenario: "input-required-result-capability-check",
    revision: "2026-07-28",
    reason: "A tool asks for its caller's model or folders; the broker asks for a yes or no only.",
  },
  {
    scenario: "input-required-result-multi-round",
    revision: "2026-07-28",
    reason: "A tool asks twice; the broker asks once for each call.",
  },
  {
    scenario: "input-required-result-non-tool-request",
    revision: "2026-07-28",
    reason: "A prompt asks its user something; the broker's ask nothing.",
  },
];
