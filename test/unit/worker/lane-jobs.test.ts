import { afterEach, describe, expect, test, vi } from "vitest";
import { createLaneJobs, type LaneJobsDeps, type TakenJob } from "../../../src/worker/execution/lane-jobs.js";
import { operation } from "../shared/record.js";

/** A lane of one place that notes whose locks it renews. */
function laneOf(deps: Partial<LaneJobsDeps>) {
  const locked = new Set<string>();
  const errors: string[] = [];
  const jobs = createLaneJobs({
    places: 1,
    process: async () => "settled",
    claimant: () => undefined,
    findClaim: async () => undefined,
    keepLock: ({ id }) => void locked.add(id),
    dropLock: ({ id }) => void locked.delete(id),
    putAway: async () => undefined,
    pause: async () => undefined,
    onFree: () => undefined,
    onError: (error) => void errors.push((error as Error).message),
    ...deps,
  });
  return { jobs, locked, errors };
}

const JOB = { id: "hash.op", logId: "op", token: "token" };

test.each(["process", "putAway"] as const)(
  "a job whose %s fails is left to its lock, which is not renewed any more, and its place is free",
  async (step) => {
    const { jobs, locked, errors } = laneOf({
      [step]: async () => {
        expect(locked).toEqual(new Set([JOB.id]));
        throw new Error("lost");
      },
    });
    const taken = await jobs.take(async () => JOB);
    await jobs.process(taken ?? JOB);
    expect(errors).toEqual(["lost"]);
    expect(locked).toEqual(new Set());
    expect(jobs.jobOf(JOB.id)).toBeUndefined();
    expect(await jobs.take(async () => JOB)).toBe(JOB);
  },
);

test("a job that BullMQ fails without having it processed leaves its place, and one that was processed not twice", async () => {
  const { jobs } = laneOf({});
  await jobs.take(async () => JOB);
  jobs.done(JOB.id);
  expect(await jobs.take(async () => JOB)).toBe(JOB);
  await jobs.process(JOB);
  jobs.done(JOB.id);
  await jobs.take(async () => JOB);
  const asked: string[] = [];
  void jobs.take(async () => void asked.push("BullMQ"));
  await new Promise(setImmediate);
  expect(asked).toEqual([]);
});

describe("what the end of an operation has claimed", () => {
  afterEach(() => void vi.useRealTimers());
  const record = operation({ logId: "next" });
  const claimant = {
    editor: "e",
    lane: "main",
    fence: "f",
    session: "s",
    incarnation: "i",
    token: "t",
    lockMs: 1,
  } as const;

  test.each([
    [0, true],
    [1_000, false],
  ])("goes on as claimed, unless its lane came to it late: after %i ms %s", async (ms, isClaimed) => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const seen: TakenJob[] = [];
    const { jobs } = laneOf({
      process: async (job) => {
        seen.push(job);
        if (job.id === JOB.id) {
          jobs.jobOf(job.id)?.ended({ record, args: "{}", claimant });
          vi.advanceTimersByTime(ms);
        }
        return "settled";
      },
    });
    await jobs.take(async () => JOB);
    await jobs.process(JOB);
    expect(seen.map(({ logId }) => logId)).toEqual(["op", "next"]);
    expect(seen[1]?.claimed !== undefined).toBe(isClaimed);
  });
});

test("a lane gives BullMQ's worker no second place while a job is under way", async () => {
  let finish = (): void => undefined;
  const { jobs } = laneOf({
    process: () =>
      new Promise((resolve) => {
        finish = () => resolve("settled");
      }),
  });
  await jobs.take(async () => JOB);
  const first = jobs.process(JOB);
  const asked: string[] = [];
  const second = jobs.take(async () => void asked.push("BullMQ"));
  await new Promise(setImmediate);
  expect(asked).toEqual([]);
  finish();
  await Promise.all([first, second]);
  expect(asked).toEqual(["BullMQ"]);
});
