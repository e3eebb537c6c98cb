/** What is shown while something goes on: an accepted call, `logs`, `watch`. For the documented screens (cli-render.test.ts). */
import {
  type Colours,
  renderAccepted,
  renderEntry,
  renderHeading,
  type ShownEditor,
} from "../../../src/cli/client/render.js";
import { changeLine, renderWatch } from "../../../src/cli/watch/screen.js";
import { changesBetween, type Snapshot } from "../../../src/cli/watch/snapshot.js";
import { type Answer, answerOf } from "../../../src/shared/operation/answer.js";
import { timelineOf, whyOnce } from "../../../src/shared/operation/timeline.js";
import { executed, NOW, operation } from "../shared/record.js";

const id = (n: number): string => `${n}b6f8a52-8c5e-4a5e-9d53-2f1f7c1a9e10`;
const shown = (record: ReturnType<typeof operation>, view = {}): Answer =>
  answerOf({ record, now: NOW, ...view }, { brief: true });

const shop: ShownEditor = {
  ...{ id: "shop@53316fd1", project: "Shop", unity_version: "6000.0.30f1", connected: true, phase: "ready" },
  running: { tool: "build-player", since: new Date(NOW - 65_000).toISOString() },
  waiting: 1,
};
const away = { id: "game@0a1b2c3d", project: "Game", unity_version: "2022.3.50f1", connected: false };

const before: Snapshot = {
  editors: [shop, { ...away, connected: true, phase: "ready" }],
  operations: [
    shown(operation({ logId: id(1), state: "queued", acceptedAt: NOW - 5_000 }), { queuePosition: 2 }),
    shown(operation({ logId: id(0), state: "running", startedAt: NOW - 60_000, acceptedAt: NOW - 65_000 }), {
      progress: { seq: 3, progress: 3, total: 7, message: "Building scene 3 of 7" },
    }),
    shown(executed({ logId: id(2), tool: "run-tests", acceptedAt: NOW - 7_200_000 })),
  ],
};

const after: Snapshot = {
  editors: [shop, away],
  operations: [
    shown(operation({ logId: id(3), tool: "echo", state: "queued", acceptedAt: NOW })),
    ...before.operations.map((answer) =>
      answer.log_id === id(0) ? { ...answer, state: "completed" as const } : answer,
    ),
  ],
};

/** Title → what is printed. */
export const LIVE_SCREENS: Record<string, (colours: Colours) => string> = {
  "unity-broker call, at once on a terminal (stderr)": (c) =>
    renderAccepted(shown(operation({ logId: id(0), state: "queued" })), c),
  "unity-broker logs": (c) => {
    const record = executed({ logId: id(0) });
    const timeline = timelineOf(record, []);
    const history = { tool: record.tool, log_id: id(0), timeline, message: whyOnce(record, []) };
    return [
      renderHeading(history, c),
      ...timeline.slice(0, 3).map((entry) => renderEntry(entry, c)),
      "  | Building scene 3 of 7",
      "  | [warning] A texture is too large",
      ...timeline.slice(3).map((entry) => renderEntry(entry, c)),
    ].join("\n");
  },
  "unity-broker watch, on a terminal": (c) => renderWatch(before, { now: NOW, rows: 24 }, c),
  "unity-broker watch, where the broker does not answer": (c) =>
    renderWatch({ ...before, trouble: "the store is away" }, { now: NOW, rows: 8 }, c),
  "unity-broker watch, in a pipe": (c) =>
    [...changesBetween(undefined, before), ...changesBetween(before, after)]
      .map((change) => changeLine(change, NOW, c))
      .join("\n"),
};
