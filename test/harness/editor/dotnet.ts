/** Whether this machine can run the C# side; found out and built once, before all tests (global-setup.ts). */
import { isLongForm } from "../long-form.js";
import type { Engine } from "./editor-control.js";

export const hasDotnet = process.env.UJB_TEST_DOTNET === "1";

/** The Editors that this machine can play. */
export const ENGINES: readonly Engine[] = hasDotnet ? ["typescript", "dotnet"] : ["typescript"];

/** Where a table is long: the bridge that users have. The long form plays it against the simulated Editor too. */
export const TELLING_ENGINES: readonly Engine[] = isLongForm ? ENGINES : ENGINES.slice(-1);
