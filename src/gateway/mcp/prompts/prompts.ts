/** The prompts of one gateway, its own and a team's: what `prompts/list` and `prompts/get` answer. */
import type { GetPromptResult, Prompt } from "@modelcontextprotocol/server";
import { BrokerError } from "../../../shared/errors.js";
import type { Log } from "../../../shared/log.js";
import { head } from "../../../shared/shortened-text.js";
import { WAITS, type WaitLimits } from "../../../shared/wait-time.js";
import { builtInPrompts } from "./built-in.js";
import { filledPrompt, type OfferedPrompt } from "./filled-prompt.js";
import { promptFolder } from "./prompt-folder.js";

export interface Prompts {
  /** Never rejects. */
  list(): Promise<Prompt[]>;
  /** Rejects with INVALID_ARGUMENTS for a prompt that does not exist, or without an argument that it needs. */
  get(name: string, given?: Readonly<Record<string, string>>): Promise<GetPromptResult>;
}

export interface PromptSettings {
  /** Of a team's own prompts; undefined: there are none. */
  folder: string | undefined;
  waits: WaitLimits;
}

/** An error names no more. */
const MOST_NAMED = 20;

/** Reads the folder at once, so that the log says what is wrong with its files before a client asks. */
export function createPrompts(
  log: Pick<Log, "warn">,
  { folder, waits = WAITS }: Partial<PromptSettings> = {},
): Prompts {
  const builtIn = builtInPrompts(waits);
  const taken = new Set(builtIn.map(({ name }) => name));
  const own = folder === undefined ? undefined : promptFolder({ folder, taken, log });
  const all = async (): Promise<OfferedPrompt[]> => [...builtIn, ...((await own?.()) ?? [])];
  void own?.();
  return {
    list: async () => (await all()).map(({ messages: _messages, absent: _absent, ...prompt }) => prompt),
    async get(name, given = {}) {
      const offered = await all();
      const prompt = offered.find((one) => one.name === name);
      if (prompt) return filledPrompt(prompt, given);
      const names = offered.slice(0, MOST_NAMED).map((one) => one.name);
      const more = offered.length > MOST_NAMED ? ", …" : "";
      throw new BrokerError(
        "INVALID_ARGUMENTS",
        `There is no prompt "${head(name, 100)}"; there are: ${names.join(", ")}${more}.`,
      );
    },
  };
}
