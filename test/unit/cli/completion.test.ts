/** Every shell that help names has a script, which asks the command line itself. */
import { expect, test } from "vitest";
import { SCRIPTS } from "../../../src/cli/commands/completion.js";
import { completion, SHELLS } from "../../../src/cli/declared/completing.js";

test.each(SHELLS)("%s", (shell) => {
  expect(SCRIPTS[shell]).toMatch(/unity-broker completion words ["($]/);
  expect(completion.args.shell.description).toContain(shell);
  // What is left of a template's own escapes would be no script.
  expect(SCRIPTS[shell]).not.toContain("\\$");
});
