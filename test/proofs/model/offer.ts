import type { State } from "./state/state.js";

/**
 * - `part`    a part of the system goes on by itself, sooner or later
 * - `caller`  the caller may do it, or never
 * - `fault`   something goes wrong; only so often
 */
export type StepKind = "part" | "caller" | "fault";

/** Offers one step that may come next: who does what, and what it changes. */
export type Offer = (kind: StepKind, says: string, changes: Partial<State>) => void;
