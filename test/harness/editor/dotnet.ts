/** Whether this machine can run the C# side; found out and built once, before all tests (global-setup.ts). */
import { isLongForm } from "../long-form.js";
import type { Engine } from "./editor-control.js";

export const hasDotnet = process.env.UJB_TEST_DOTNET === "1";

/**
 * By the output of a build that failed: why the C# tests are left out. Undefined: it is a fault, as on CI, where nothing may be left
 * out.
 */
export const whyNotRestored = (output: string): string | undefined =>
  /\bNU1301\b/.test(output) && !process.env.CI
    ? "NuGet's packages are not on this machine, and their source cannot be reached."
    : undefined;

/** The Editors that this machine can play. */
export const ENGINES: readonly Engine[] = hasDotnet ? ["typescript", "dotnet"] : ["typescript"];

/** Where a table is long: the bridge that users have. The long form plays it against the simulated Editor too. */
export const TELLING_ENGINES: readonly Engine[] = isLongForm ? ENGINES : ENGINES.slice(-1);
