/** How long a test waits for what must happen, ms. */
export const PATIENCE_MS = 120_000;

/** A condition of a part that tells nobody when it changes (an Editor's inside, a key that expires). */
export async function eventually(
  is: () => boolean | Promise<boolean>,
  what: string | (() => string),
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!(await is())) {
    if (performance.now() > deadline) {
      throw new Error(`never: ${typeof what === "string" ? what : what()}`);
    }
    await new Promise((next) => setTimeout(next, 5));
  }
}
