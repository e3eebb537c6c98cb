/** Ctrl-C and SIGTERM while `run` waits: they end the wait. What becomes of the operation is asked, or was said before. */
import { createInterface } from "node:readline";

export type Choice = "wait" | "leave" | "cancel";

export interface Interrupts {
  /** Aborted by a signal; a new one after the choice to wait on. */
  readonly signal: AbortSignal;
  /** After a signal. */
  choose(): Promise<Choice>;
  close(): void;
}

export interface InterruptOptions {
  /** What a signal means where nobody can be asked; undefined: ask at a terminal, and leave the operation elsewhere. */
  always: "cancel" | undefined;
  /** A person can answer at `input`. */
  isTerminal: boolean;
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
}

export function createInterrupts({ always, isTerminal, input, output }: InterruptOptions): Interrupts {
  let interrupt = new AbortController();
  let isTerminated = false;
  /** Ends the question. */
  let answer: ((choice: Choice) => void) | undefined;

  const onSigint = (): void => {
    if (answer) answer("leave");
    else interrupt.abort();
  };
  // A pipeline that was cancelled, or a system that shuts down: nobody answers a question.
  const onSigterm = (): void => {
    isTerminated = true;
    onSigint();
  };
  process.on("SIGINT", onSigint).on("SIGTERM", onSigterm);

  const ask = async (): Promise<Choice> => {
    const lines = createInterface({ input, output });
    try {
      return await new Promise<Choice>((resolve) => {
        answer = resolve;
        lines.once("SIGINT", () => resolve("leave")).once("close", () => resolve("leave"));
        const question =
          "\nThe operation is under way. Leave it running (l), cancel it (c), or wait on (Enter)? ";
        lines.question(question, (line) => resolve(choiceIn(line)));
      });
    } finally {
      answer = undefined;
      lines.close();
    }
  };

  return {
    get signal() {
      return interrupt.signal;
    },

    async choose() {
      if (always) return always;
      const choice = isTerminal && !isTerminated ? await ask() : "leave";
      if (choice === "wait") interrupt = new AbortController();
      return choice;
    },

    close() {
      process.off("SIGINT", onSigint).off("SIGTERM", onSigterm);
    },
  };
}

function choiceIn(line: string): Choice {
  const [letter] = line.trim().toLowerCase();
  if (letter === "c") return "cancel";
  return letter === "l" ? "leave" : "wait";
}
