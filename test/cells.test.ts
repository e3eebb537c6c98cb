/**
 * What becomes of an operation: every cell of the recovery table, and the tests that show it for the whole system.
 *
 * What the Editor itself does in these cells is test/editor-cells.test.ts, against both Editors.
 */
import { describe, expect, test } from "vitest";
import { missing, type NamedTest, named } from "./harness/named-tests.js";

const COLUMNS = ["queued", "sent", "running", "finished"] as const;
type Row = Record<(typeof COLUMNS)[number], NamedTest[]>;

const GATEWAY = "cells/client-or-gateway-dies.test.ts";
const WORKER = "cells/worker-dies.test.ts";
const REDIS = "cells/redis.test.ts";
const EDITOR = "cells/editor-rows.test.ts";
const QUIT = "cells/editor-quits.test.ts";
const LOSS = "ledger-loss.test.ts";
const PLAIN = "plain-editor.test.ts";

const TABLE = {
  "client or gateway dies": {
    queued: named(GATEWAY, "client or gateway dies · queued: stays, runs once"),
    sent: named(GATEWAY, "client or gateway dies · sent: stays, runs once"),
    running: named(GATEWAY, "client or gateway dies · running: goes on, its end is stored"),
    finished: named(GATEWAY, "client or gateway dies · finished: the stored result is told to whoever asks"),
  },
  "worker dies or hangs": {
    queued: named(
      WORKER,
      "worker dies or hangs · queued: the next owner runs it once",
      "worker hangs · queued: as after its death, and the one that wakes gives way",
    ),
    sent: named(
      WORKER,
      "worker dies or hangs · sent: the next owner submits the same id and attaches",
      "worker stops · sent: as after its death, and the one that wakes gives way",
    ),
    running: named(
      WORKER,
      "worker dies or hangs · running: the next owner attaches",
      "worker stops · running: as after its death, and the one that wakes gives way",
      "worker hangs · running: as after its death, and the one that wakes gives way",
    ),
    finished: named(
      WORKER,
      "worker dies or hangs · finished: the next owner collects it from the ledger",
      "worker hangs · finished: as after its death, and the one that wakes gives way",
    ),
  },
  "Redis restarts (AOF)": {
    queued: named("recovery.test.ts", "while calls wait: each runs once, in order"),
    sent: named(REDIS, "Redis restarts · sent: the same id is submitted again, and attaches"),
    running: named(REDIS, "Redis restarts · running: goes on, and progress catches up"),
    finished: named(REDIS, "Redis restarts · finished: stored again, and acknowledged"),
  },
  "Redis loses its last seconds, is restored, is flushed": {
    queued: named(
      REDIS,
      "Redis goes back · queued: lost before it was sent, so the retry creates it, and it runs once",
    ),
    sent: named(REDIS, "Redis goes back · sent: the retry is the same execution"),
    running: [
      ...named(REDIS, "Redis goes back · running: the retry is the same execution"),
      ...named(LOSS, "flushed while it runs: the same log_id goes on, the same call joins it"),
    ],
    finished: [
      ...named(REDIS, "Redis goes back · finished: the retry is told the same outcome"),
      ...named(LOSS, "flushed while nobody worked: the outcome is told by the Editor, under its log_id"),
      ...named(PLAIN, "and the store forgets the whole operation: its retry is the same call, and unknown"),
    ],
  },
  "connection to the Editor lost": {
    queued: named(EDITOR, "connection to the Editor lost · queued: stays, runs once"),
    sent: named(EDITOR, "connection to the Editor lost · sent: the same id again attaches"),
    running: named(EDITOR, "connection to the Editor lost · running: goes on"),
    finished: named(EDITOR, "connection to the Editor lost · finished: told again after hello"),
  },
  "domain reload": {
    queued: named(EDITOR, "domain reload · queued: stays, runs once"),
    sent: named(EDITOR, "domain reload · sent: the Editor queues it again itself, the same id attaches"),
    running: named(
      EDITOR,
      "domain reload · running: a resumable tool goes on",
      "domain reload · running: any other is interrupted, and the same call is told so again",
    ),
    finished: named(EDITOR, "domain reload · finished: told again after hello"),
  },
  "Editor crash or quit": {
    queued: [
      ...named(EDITOR, "Editor crash or quit · queued: the next session of the project runs it once"),
      ...named(QUIT, "Editor crash or quit · queued: after a quit too"),
    ],
    sent: [
      ...named(EDITOR, "Editor crash or quit · sent: not started, so it is queued again and runs once"),
      ...named(
        "worker-recovery.test.ts",
        "before it began, and has forgotten the call: unknown, never called not started",
      ),
      ...named(
        QUIT,
        "Editor crash or quit · sent: refused by an Editor that quits, so it is queued again and runs once",
      ),
    ],
    running: [
      ...named(EDITOR, "Editor crash or quit · running: interrupted, and the same call is told so again"),
      ...named(QUIT, "Editor crash or quit · running: after a quit too"),
    ],
    finished: [
      ...named(EDITOR, "Editor crash or quit · finished: told by the next session"),
      ...named(QUIT, "Editor crash or quit · finished: after a quit too"),
    ],
  },
  "ledger lost or rolled back": {
    queued: named(EDITOR, "ledger lost or rolled back · queued: stays, runs once"),
    sent: [
      ...named(EDITOR, "ledger lost or rolled back · sent: interrupted, it is not sent again"),
      ...named(LOSS, "schedule L: nobody heard that it began, but the store has seen later entries"),
    ],
    running: [
      ...named(EDITOR, "ledger lost or rolled back · running: interrupted, it is not sent again"),
      ...named(LOSS, "schedule L: to when a running call was only accepted: unknown, and not run again"),
    ],
    finished: named(EDITOR, "ledger lost or rolled back · finished: the broker's record decides"),
  },
  "bridge without a ledger loses its connection": {
    queued: named(PLAIN, "what waited behind another call was not written down, and runs"),
    sent: [
      ...named(
        "cells/plain-editor.test.ts",
        "bridge without a ledger · sent: interrupted, although it never arrived",
      ),
      ...named(PLAIN, "a read is sent again"),
    ],
    running: named(
      PLAIN,
      "behind a call that may have changed something: unknown, with evidence, and never sent again",
    ),
    finished: named(
      "cells/plain-editor.test.ts",
      "bridge without a ledger · finished: interrupted, its answer was never heard",
    ),
  },
} satisfies Record<string, Row>;

describe.each(Object.entries<Row>(TABLE))("%s", (_event, row) => {
  test.each(COLUMNS)("%s: its tests are there", (column) => {
    expect(row[column].length).toBeGreaterThan(0);
    expect(missing(row[column])).toEqual([]);
  });
});

test("no test of a cell is named twice, and a name that is nowhere is missed", () => {
  const all = Object.values<Row>(TABLE).flatMap((row) => COLUMNS.flatMap((column) => row[column]));
  const keys = all.map(({ file, name }) => `${file}: ${name}`);
  expect(new Set(keys).size).toBe(keys.length);
  expect(missing(named(EDITOR, "domain reload"))).toHaveLength(1);
});
