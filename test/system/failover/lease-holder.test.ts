/** A lease is taken before it expires only from a process that has died on this machine, and has not renewed it since. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { Redis } from "ioredis";
import { describe, expect, test, vi } from "vitest";
import { identify } from "../../../src/shared/machine/living-process.js";
import {
  createLease,
  type EditorFence,
  fieldsOf,
  holdersHere,
  type Lease,
  type LeaseHolder,
  type LeaseHolders,
} from "../../../src/shared/store/editors/lease.js";
import { keys } from "../../../src/shared/store/keys.js";
import { eventually } from "../../harness/eventually.js";
import { useOpenedStores } from "../../harness/system/opened-stores.js";

const { open, byHand, closeLater } = useOpenedStores();

const LEASE = keys.lease("game");
const HOLDER = keys.leaseHolder("game");
/** Longer than a test waits: none of these leases expires by itself. */
const LONG_MS = 60_000;
/** Too short for what is kept, and longer than a busy machine keeps a lease waiting. */
const SOON_MS = 30_000;
const isLinux = process.platform === "linux";

/** Its sockets stay open, and the system shows it as a zombie. */
const HEADLESS = `
import ctypes, threading, time
threading.Thread(target=lambda: time.sleep(1000)).start()
print("ready", flush=True)
ctypes.CDLL(None).pthread_exit(None)`;
const hasPython = isLinux && spawnSync("python3", ["--version"]).status === 0;

/** Also of what looks like a zombie. */
function startOf(pid: number): string | undefined {
  return readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[19];
}

interface Contender {
  lease: Lease;
  held: EditorFence[];
  died: (LeaseHolder | undefined)[];
  refusals(): number;
}

/** Tries on this connection, so that what a test sends on it while the lease looks comes before the lease's next command. */
async function contend(redis: Redis, holders?: LeaseHolders, clock?: () => number): Promise<Contender> {
  await open();
  const held: EditorFence[] = [];
  const died: (LeaseHolder | undefined)[] = [];
  let refused = 0;
  const lease = createLease(
    redis,
    "game",
    { ttlMs: LONG_MS, renewMs: 20, keptMs: LONG_MS, ...(holders ? { holders } : {}) },
    {
      onHeld(fence, holder) {
        held.push(fence);
        died.push(holder);
      },
      onLost: () => undefined,
      onRefused: () => {
        refused += 1;
      },
      onError: () => undefined,
    },
    clock,
  );
  closeLater(() => lease.close());
  return { lease, held, died, refusals: () => refused };
}

/** As if it had taken the lease. */
async function hold(redis: Redis, holder: LeaseHolder, nonce = "the owner"): Promise<void> {
  await redis.set(LEASE, nonce, "PX", LONG_MS);
  await redis.hset(HOLDER, "nonce", nonce, ...fieldsOf(holder));
  await redis.pexpire(HOLDER, LONG_MS);
  closeLater(async () => {
    if ((await redis.get(LEASE)) === nonce) await redis.del(LEASE);
  });
}

function own(): LeaseHolder {
  const found = holdersHere().own;
  if (!found) throw new Error("nothing names this machine");
  return found;
}

/** A process that ends with the test. */
function sleeper(): ChildProcess & { pid: number } {
  const child = spawn("sleep", ["1000"], { stdio: "ignore" });
  closeLater(() => child.kill("SIGKILL"));
  return child as typeof child & { pid: number };
}

/** On record as this process. */
function recorded(pid: number): LeaseHolder {
  const { machine, mark } = own();
  return { machine, pid, mark: mark === undefined ? undefined : identify(pid)?.mark };
}

/** One that was killed, and whose id is free. */
async function dead(): Promise<LeaseHolder> {
  const child = sleeper();
  const holder = recorded(child.pid);
  child.kill("SIGKILL");
  await once(child, "exit");
  return holder;
}

/** Refused again and again, also after it has had every occasion to look. */
async function staysRefused({ held, refusals }: Contender, redis: Redis): Promise<void> {
  const before = refusals();
  await eventually(() => refusals() >= before + 5, "it tries again");
  expect(held).toEqual([]);
  expect(await redis.get(LEASE)).toBe("the owner");
}

describe("the holder", () => {
  test("is recorded with the lease, and goes with it", async () => {
    const hand = byHand();
    const { lease, held } = await contend(hand);
    await eventually(() => held.length === 1, "taken");
    const { machine, pid, mark } = own();
    expect(await hand.hgetall(HOLDER)).toMatchObject({
      ...{ nonce: held[0]?.ownerNonce, machine, pid: String(pid) },
      ...(mark === undefined ? {} : { mark }),
    });
    // It is kept longer than any lease, and what is kept for long is not written again each second. The epoch's comes last: it is
    // what the next renewal looks at.
    expect(await hand.pttl(HOLDER)).toBeGreaterThan(LONG_MS);
    await hand.pexpire(HOLDER, SOON_MS);
    await hand.pexpire(keys.epoch("game"), SOON_MS);
    await eventually(async () => (await hand.pttl(HOLDER)) > SOON_MS, "renewed");
    expect(await hand.pttl(keys.epoch("game"))).toBeGreaterThan(SOON_MS);
    await lease.close();
    expect(await hand.exists(LEASE, HOLDER)).toBe(0);
  });

  test("that has lost it by its own clock takes it again, however long the store lets it live", async () => {
    const hand = byHand();
    let now = 0;
    const { lease, held, refusals } = await contend(hand, undefined, () => now);
    await eventually(() => held.length === 1, "taken");
    now += LONG_MS;
    expect(lease.fence()).toBeUndefined();
    await eventually(() => held.length === 2, "taken again");
    expect(refusals()).toBe(0);
    expect(held[1]?.epoch).toBe((held[0]?.epoch ?? 0) + 1);
    expect(await hand.get(LEASE)).toBe(held[1]?.ownerNonce);
  });

  test("of a machine without a name is not recorded", async () => {
    const hand = byHand();
    await hand.hset(HOLDER, "nonce", "an earlier owner");
    const { held } = await contend(hand, { own: undefined, isDead: () => false });
    await eventually(() => held.length === 1, "taken");
    expect(await hand.hmget(HOLDER, "machine", "pid", "mark")).toEqual([null, null, null]);
  });
});

describe("is taken at once, with a higher epoch, from", () => {
  const taken = async (holder: LeaseHolder): Promise<void> => {
    const hand = byHand();
    await hand.set(keys.epoch("game"), "7");
    await hold(hand, holder);
    const { held, died, refusals } = await contend(hand);
    await eventually(() => held.length === 1, "taken");
    expect(refusals()).toBe(0);
    expect(held[0]?.epoch).toBe(8);
    expect(died).toEqual([expect.objectContaining({ pid: holder.pid })]);
    expect(await hand.get(LEASE)).toBe(held[0]?.ownerNonce);
    expect(await hand.hget(HOLDER, "nonce")).toBe(held[0]?.ownerNonce);
  };

  test("a process that was killed", async () => taken(await dead()));

  test.runIf(isLinux)("a process whose id another has now", () =>
    taken({ ...recorded(sleeper().pid), mark: "1" }),
  );

  test.runIf(isLinux)("a zombie: it holds no sockets", async () => {
    // `sleep` in the place of its parent never asks for its end.
    const parent = spawn("sh", ["-c", "sleep 1000 & echo $!; exec sleep 1000"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    closeLater(() => parent.kill("SIGKILL"));
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const holder = recorded(Number(line));
    await eventually(
      () => readFileSync(`/proc/${parent.pid}/comm`, "utf8") === "sleep\n",
      "the shell has gone",
    );
    process.kill(holder.pid, "SIGKILL");
    await eventually(() => identify(holder.pid) === undefined, "it is a zombie");
    await taken(holder);
  });
});

describe("is left to", () => {
  const kept = async (holder: LeaseHolder): Promise<void> => {
    const hand = byHand();
    await hold(hand, holder);
    await staysRefused(await contend(hand), hand);
  };

  test("a process that lives", () => kept(recorded(sleeper().pid)));

  test("a process that stands still", async () => {
    const child = sleeper();
    const holder = recorded(child.pid);
    child.kill("SIGSTOP");
    await kept(holder);
  });

  test.runIf(hasPython)("a process whose first thread has ended, and others have not", async () => {
    const child = spawn("python3", ["-c", HEADLESS], { stdio: ["ignore", "pipe", "ignore"] });
    closeLater(() => child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const holder = { ...own(), pid: Number(child.pid), mark: startOf(Number(child.pid)) };
    await eventually(() => identify(holder.pid) === undefined, "it looks like a zombie");
    await kept(holder);
  });

  test("a process of another user, of which the system shows nothing", async () => {
    const holder = await dead();
    const asked = vi.spyOn(process, "kill").mockImplementation(() => {
      throw Object.assign(new Error("not permitted"), { code: "EPERM" });
    });
    closeLater(() => asked.mockRestore());
    await kept(holder);
    expect(asked).toHaveBeenCalledWith(holder.pid, 0);
  });

  test("a process of another machine", async () => kept({ ...(await dead()), machine: "elsewhere" }));

  test("a process whose id is in use, where its mark is not known", async () =>
    kept({ ...recorded(sleeper().pid), mark: undefined }));

  test.runIf(isLinux)("a process without a mark, where every process has one", async () =>
    kept({ ...(await dead()), mark: undefined }),
  );

  test("what cannot be a process", async () => {
    const gone = await dead();
    for (const pid of [0, -gone.pid, 1.5, Number.NaN]) await kept({ ...gone, pid });
  });

  test("an owner that recorded nothing, whatever the one before has left", async () => {
    const hand = byHand();
    await hold(hand, await dead(), "the owner before");
    await hand.set(LEASE, "the owner", "PX", LONG_MS);
    await staysRefused(await contend(hand), hand);
    await hand.del(LEASE);
  });
});

describe("between the look at a holder that died and the taking", () => {
  /** `meanwhile` runs in the only look that finds it dead. */
  const lookThen = (meanwhile: () => void): LeaseHolders => {
    let looks = 0;
    return {
      own: own(),
      isDead() {
        looks += 1;
        if (looks === 1) meanwhile();
        return looks === 1;
      },
    };
  };

  test("another that takes the lease keeps it", async () => {
    const hand = byHand();
    await hold(hand, await dead(), "the owner before");
    const contender = await contend(
      hand,
      lookThen(() => {
        void hand.set(LEASE, "the owner", "PX", LONG_MS);
        void hand.hset(HOLDER, "nonce", "the owner");
      }),
    );
    await staysRefused(contender, hand);
    await hand.del(LEASE);
  });

  test("one that gave it up leaves it free", async () => {
    const hand = byHand();
    await hold(hand, await dead());
    const gaveUp = lookThen(() => void hand.del(LEASE, HOLDER));
    const { held } = await contend(hand, gaveUp);
    await eventually(() => held.length === 1, "taken");
  });
});

test("of several that see it dead, one takes it", async () => {
  await hold(byHand(), await dead());
  const contenders = await Promise.all([1, 2, 3, 4].map(() => contend(byHand())));
  await eventually(() => contenders.filter(({ refusals }) => refusals() >= 5).length === 3, "three refused");
  expect(contenders.map(({ held }) => held.length).sort()).toEqual([0, 0, 0, 1]);
});
