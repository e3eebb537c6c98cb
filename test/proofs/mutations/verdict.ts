/** What a judge says of one schedule that was played: the Editor's own counter, or a named oracle. */
export interface Verdict {
  judge: string;
  /** In numbers, for the table: "2 executions of 1 intent". */
  text: string;
  isBroken: boolean;
}

export const COUNTER = "counter";

/** The counter's verdict on one menu item. */
export function counted(executions: number, intents: number): Verdict {
  const text = `${many(executions, "execution")} of ${many(intents, "intent")}`;
  return { judge: COUNTER, text, isBroken: executions !== intents };
}

export function many(count: number, what: string): string {
  return `${count} ${count === 1 ? what : what.endsWith("sh") ? `${what}es` : `${what}s`}`;
}
