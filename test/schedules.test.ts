/**
 * Every schedule that ran something twice in an earlier draft, and the tests that force it against real processes,
 * a real Redis and a real Editor peer; where only the rule itself can be shown, that is said.
 */
import { expect, test } from "vitest";
import { missing, type NamedTest, named } from "./harness/named-tests.js";

const STORE = "schedules/store-goes-back.test.ts";
const SESSIONS = "schedules/editor-sessions.test.ts";
const STORIES = "never-twice/stories.ts";

interface Schedule {
  story: string;
  tests: NamedTest[] | "comes with pools";
}

const SCHEDULES: Record<string, Schedule> = {
  A: {
    story: "the answer goes to nobody, and the re-issue is taken for a deliberate run",
    tests: named(
      STORIES,
      "schedule A: the answer to #1 goes to nobody, #2 is not taken for a deliberate run",
      "schedule A with any other message in between",
      "schedule A over stdio: answer, other message, cancel, re-issue",
    ),
  },
  B: {
    story: "an older request comes late",
    tests: named(STORIES, "schedule B: a late copy of an older request is no deliberate run"),
  },
  C: {
    story: "a forced call times out and is sent again",
    tests: named(STORIES, "schedule C: a force_new that timed out and is sent again as it was"),
  },
  D: {
    story: "`after` computed at sending",
    tests: named(STORE, "schedule D: the retry, made before the Editor tells of the first run, does not run"),
  },
  E: {
    story: "`after` not compared for equality",
    tests: named(
      STORE,
      "schedule E: only the revoked one before it is remembered; the retry is the run that was forgotten",
    ),
  },
  F: {
    story: "the retry of an expired retry",
    tests: named(
      STORE,
      "schedule F: the retry expired unsent; the retry of the retry is the run that was forgotten",
    ),
  },
  G: {
    story: "a forced run takes the outcome of what it supersedes",
    tests: named(STORE, "schedule G: a forced run does not take the old outcome of what it supersedes"),
  },
  H: { story: "the store goes back, the same id goes to another member", tests: "comes with pools" },
  I: { story: "every member has revoked it", tests: "comes with pools" },
  J: {
    story: "a frame that is read after its operation was given away",
    tests: named(
      "stalled-editor.test.ts",
      "schedule J: it stands still with the frame in its buffer; its worker is replaced; it reads on",
      "schedule J: a frame that is lost on the way is unknown to the next session: revoked there, and only then interrupted",
    ),
  },
  K: {
    story: "claimed in one session, sent in the next",
    tests: named(
      SESSIONS,
      "schedule K: claimed for one session, sent in the next, the connection lost: it runs on and is not given up",
      "schedule K: sent in one session and lost, unknown in the next: revoked there, then interrupted",
    ),
  },
  L: {
    story: "the Editor's ledger is restored from an older copy",
    tests: [
      ...named(
        "ledger-loss.test.ts",
        "schedule L: to when a running call was only accepted: unknown, and not run again",
        "schedule L: nobody heard that it began, but the store has seen later entries",
      ),
      ...named(
        "cells/editor-rows.test.ts",
        "ledger lost or rolled back · running: interrupted, it is not sent again",
      ),
    ],
  },
  M: {
    story: "the store's epoch goes back",
    tests: named(
      STORE,
      "schedule M: the rightful owner is refused once, and raises it",
      "schedule M: of two owners with the same epoch one is left",
    ),
  },
  N: {
    story: "an automatic client repeats what was interrupted",
    tests: named("never-twice/scenarios-kills.ts", "retry after interrupted"),
  },
  O: { story: "jobs made by hand", tests: named("never-twice/scenarios-hands.ts", "job added by hand") },
  P: {
    story: "a job that was not yet removed swallows the next",
    tests: named(
      "worker-jobs.test.ts",
      "a job that BullMQ has not yet removed never swallows the next operation of the same call",
    ),
  },
  Q: {
    story: "a retry without an Editor after the first one died",
    tests: named(
      SESSIONS,
      "schedule Q: Editor 1 died in the middle, Editor 2 appeared; the retry without an Editor is the first call",
    ),
  },
  R: {
    story: "set A, set B, set A",
    tests: named("broker.test.ts", "set A, set B, set A: the second A sees B and runs"),
  },
  S: {
    story: "an answer that nobody received, and an hour",
    tests: named(
      "never-twice.test.ts",
      "schedule S: an answer that nobody received is replayed however late the retry comes",
    ),
  },
  T: {
    story: "ids that differ beyond 2^53",
    tests: named("broker-input.test.ts", "integers whose digits are lost already, wherever they are"),
  },
  U: {
    story: "a bridge without a ledger, the store forgets that it was sent",
    tests: named(
      "plain-editor.test.ts",
      "U: and the store forgets that it was sent: the id in sent.log is not sent",
    ),
  },
  V: {
    story: "acknowledged to the Editor, lost by the store",
    tests: named(STORE, "schedule V: the Editor still has it, and it is stored again"),
  },
};

test("every schedule from A to V is in the table", () => {
  const letters = Array.from({ length: 22 }, (_none, at) => String.fromCharCode("A".charCodeAt(0) + at));
  expect(Object.keys(SCHEDULES)).toEqual(letters);
});

test.each(Object.entries(SCHEDULES))("schedule %s: its tests are there", (_letter, { tests }) => {
  if (tests === "comes with pools") return;
  expect(tests.length).toBeGreaterThan(0);
  expect(missing(tests)).toEqual([]);
});
