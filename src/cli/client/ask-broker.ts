/** One question to the broker from the command line: connects, prints, ends with the exit code. */
import { environment } from "../environment.js";
import { readSettings } from "../processes/settings.js";
import { selfCommand } from "../self.js";
import type { BrokerClient } from "./broker-client.js";
import { connectBroker } from "./connect-broker.js";
import { EXIT } from "./exit-codes.js";
import { type Colours, coloursFor } from "./render.js";

export interface Asking {
  client: BrokerClient;
  colours: Colours;
  /** How this command was called. */
  self: string;
  /** Aborted by Ctrl-C: ends a wait, never an operation. */
  signal: AbortSignal;
  /** True once the whole text has left this process; false where nobody reads it. */
  print(text: string): Promise<boolean>;
}

/** Runs `ask` with a connected broker; its answer becomes the exit code. */
export async function askBroker(
  options: { serves: boolean },
  ask: (asking: Asking) => Promise<number>,
): Promise<void> {
  const settings = readSettings();
  // Until here Ctrl-C ends the process as usual: nothing has been asked.
  const client = await connectBroker(options, settings);
  const interrupt = new AbortController();
  const onInterrupt = (): void => interrupt.abort();
  process.once("SIGINT", onInterrupt);
  try {
    process.exitCode = await ask({
      client,
      colours: coloursFor(process.stdout, environment()),
      self: selfCommand(),
      signal: interrupt.signal,
      print,
    });
    if (interrupt.signal.aborted && process.exitCode === EXIT.goesOn) process.exitCode = EXIT.detached;
  } finally {
    process.off("SIGINT", onInterrupt);
    await client.close();
  }
}

export function print(text: string): Promise<boolean> {
  return new Promise((resolve) => {
    // What a failure means is decided once (../main.ts).
    process.stdout.write(`${text}\n`, (error) => resolve(!error));
  });
}
