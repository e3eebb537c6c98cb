/**
 * Who holds a lease: the taker records its process beside the lease, so that another worker of the same machine can know
 * that it has died, and need not wait until the lease expires.
 */
import { hostname } from "node:os";
import { isProvenDead, ownIdentity, type ProcessIdentity } from "../../machine/living-process.js";
import { machineName } from "../../machine/machine-name.js";

export interface LeaseHolder extends ProcessIdentity {
  /** In which its process id counts (machine-name.ts). */
  readonly machine: string;
}

/** What a lease asks about itself and about the process that is in its way. */
export interface LeaseHolders {
  /** This process; undefined: it is not recorded, and its lease is never taken before it expires. */
  own: LeaseHolder | undefined;
  /** Whether this process no longer exists, for certain: a stopped or hanging one may still run. */
  isDead(holder: LeaseHolder): boolean;
}

let here: LeaseHolders | undefined;

/** As the system tells it; the machine is asked for its name once. */
export function holdersHere(): LeaseHolders {
  if (here) return here;
  const own = ownHolder();
  here = { own, isDead: (holder) => holder.machine === own?.machine && isProvenDead(holder) };
  return here;
}

function ownHolder(): LeaseHolder | undefined {
  const identity = ownIdentity();
  const machine = machineName();
  return identity && machine !== undefined ? { machine, ...identity } : undefined;
}

/** As fields of the hash beside the lease. */
export function fieldsOf({ machine, pid, mark }: LeaseHolder): string[] {
  return ["machine", machine, "pid", String(pid), ...(mark === undefined ? [] : ["mark", mark])];
}

/** Undefined unless machine and process are recorded. */
export function holderOf(
  machine: string | null | undefined,
  pid: string | null | undefined,
  mark: string | null | undefined,
): LeaseHolder | undefined {
  return machine && pid ? { machine, pid: Number(pid), mark: mark ?? undefined } : undefined;
}

/** The same for what people know a worker by: nothing is decided by that. */
export function namesOf({ version }: { version?: string | undefined }): string[] {
  return [
    "host",
    hostname(),
    "process",
    String(process.pid),
    ...(version === undefined ? [] : ["version", version]),
  ];
}
