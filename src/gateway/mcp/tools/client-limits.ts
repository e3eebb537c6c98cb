/**
 * What MCP clients take: how large an answer may be, and how long they wait for it. What is larger, a client cuts, refuses or puts into a
 * file that its model has to find. The sources are in docs/reference/answer-sizes.md; a test compares both tables.
 */
import type { Implementation } from "@modelcontextprotocol/server";
import type { AnswerSettings } from "../../../shared/answer-forms.js";
import type { WaitLimits } from "../../../shared/wait-time.js";
import { formFor } from "./answer-form.js";

export interface KnownClient {
  /** How the name in its `initialize` begins, in lower case. */
  name: string;
  /** As it counts: characters or bytes; bytes are never fewer. */
  answerBytes: number;
  /** When it gives up a call, s. */
  givesUpSeconds: number;
}

export const KNOWN_CLIENTS: readonly KnownClient[] = [
  { name: "claude-code", answerBytes: 50_000, givesUpSeconds: 300 },
  { name: "claude-ai", answerBytes: 50_000, givesUpSeconds: 60 },
  { name: "cursor", answerBytes: 40_000, givesUpSeconds: 60 },
  { name: "visual studio code", answerBytes: 8_192, givesUpSeconds: 60 },
  { name: "codex", answerBytes: 10_000, givesUpSeconds: 60 },
  { name: "gemini-cli", answerBytes: 40_000, givesUpSeconds: 60 },
  { name: "cline", answerBytes: 40_000, givesUpSeconds: 60 },
  { name: "windsurf", answerBytes: 40_000, givesUpSeconds: 60 },
];

/** Of a client that nothing is known of. */
export const ANY_CLIENT = { answerBytes: 50_000, givesUpSeconds: 60 } as const;

/** An answer is on its way this long before its client gives up. */
const AHEAD_SECONDS = 10;

export interface ClientLimits {
  /** Infinite for a program that reads all. */
  answerBytes: number;
  waits: WaitLimits;
}

/** A client's name is a form of words, not a right: one that claims another's name gets answers of that one's size. */
export function limitsFor(client: Implementation | undefined, settings: AnswerSettings): ClientLimits {
  const name = client?.name.toLowerCase() ?? "";
  const known = KNOWN_CLIENTS.find((each) => name.startsWith(each.name));
  const isProgram = formFor(client, "short") === "full";
  const readsAll = isProgram || settings.form === "full";
  const answerBytes = isProgram ? undefined : (settings.limitBytes ?? known?.answerBytes);
  const { givesUpSeconds } = known ?? ANY_CLIENT;
  const { standardSeconds, mostSeconds } = settings.waits;
  return {
    answerBytes: answerBytes ?? (readsAll ? Number.POSITIVE_INFINITY : ANY_CLIENT.answerBytes),
    waits: { standardSeconds, mostSeconds: Math.min(mostSeconds, givesUpSeconds - AHEAD_SECONDS) },
  };
}
