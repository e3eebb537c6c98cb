/** Which worker owns an Editor, as its lease says (lease.ts). */
import type { Redis } from "ioredis";
import { keys } from "../keys.js";

export interface Owner {
  editor: string;
  /** The machine's host name, and the process id there; undefined where that was lost. */
  host: string | undefined;
  pid: number | undefined;
  version: string | undefined;
}

export interface Owners {
  /** Of these Editors, those that are owned now. */
  of(editors: readonly string[]): Promise<Owner[]>;
}

export function createOwners(redis: Redis): Owners {
  const ownerOf = async (editor: string): Promise<Owner[]> => {
    const [nonce, holder] = await Promise.all([
      redis.get(keys.lease(editor)),
      redis.hgetall(keys.leaseHolder(editor)),
    ]);
    if (nonce === null) return [];
    // What an owner before it has left says nothing of this one.
    const { host, process, version } = holder.nonce === nonce ? holder : {};
    return [{ editor, host, pid: process === undefined ? undefined : Number(process), version }];
  };
  return { of: async (editors) => (await Promise.all(editors.map(ownerOf))).flat() };
}
