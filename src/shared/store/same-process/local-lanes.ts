/**
 * The lanes of Editors that this process owns. Their operations take the short way: an idle lane has a new operation claimed by
 * the script that creates it, and the script that ends an operation of a lane ends its job and claims the next one.
 */
import type { OperationRecord } from "../../operation/operation.js";
import type { Claimant } from "../scripts/claim.js";

/** An operation that a script has claimed for a lane of this process. */
export interface ClaimedOperation {
  record: OperationRecord;
  /** JSON. */
  args: string;
  /** The claim: its session is the one that the record names, its token that of the job. */
  claimant: Claimant;
}

/** A place in an idle lane, kept until one of the three is called. */
export interface Place {
  claimant: Claimant;
  begin(claimed: ClaimedOperation): void;
  leave(): void;
  /** Whether the script has claimed with this claimant is not known: its reply was lost. */
  lost(): void;
}

/** A job under way in a lane. */
export interface LaneJob {
  id: string;
  token: string;
  /** For the next operation, with a token of its own; undefined if the lane takes none now. */
  claimant(): Claimant | undefined;
  /** Its job has ended with its operation; `next` has been claimed in its place. */
  ended(next: ClaimedOperation | undefined): void;
  /** Whether the script has ended the job, and claimed with this claimant, is not known: its reply was lost. */
  lost(claimant: Claimant | undefined): void;
}

export interface LocalLane {
  place(): Place | undefined;
  jobOf(jobId: string): LaneJob | undefined;
}

/** By the name of the queue. */
export type LocalLanes = Map<string, LocalLane>;
