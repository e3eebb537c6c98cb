/**
 * Whose process is at the other end of a TCP connection of this machine, where the system tells it: Linux lists every
 * socket with its user in /proc/net/tcp and tcp6 (proc(5)). Elsewhere, over IPv6, and for peers
 * on other machines or in other network namespaces, nobody knows.
 */
import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";

export interface TcpEnd {
  host: string;
  port: number;
}

/**
 * Whether the peer is certainly the process of a user who is neither this one nor root, who reads every token anyway.
 * Synchronous, because the decision comes before the first byte.
 */
export function isAnotherUsers(own: TcpEnd, peer: TcpEnd): boolean {
  const uid = process.getuid?.();
  if (uid === undefined || process.platform !== "linux") return false;
  const owner = ownerOf(own, peer);
  return owner !== undefined && owner !== uid && owner !== 0;
}

function ownerOf(own: TcpEnd, peer: TcpEnd): number | undefined {
  for (const table of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    try {
      const owner = ownerIn(readFileSync(table, "latin1"), own, peer);
      if (owner !== undefined) return owner;
    } catch {
      // A machine without that protocol.
    }
  }
  return undefined;
}

/** The user of the peer's socket; undefined: it is not in this table, or closed already (its owner is told as 0 then). */
export function ownerIn(table: string, own: TcpEnd, peer: TcpEnd): number | undefined {
  const locals = formsOf(peer);
  const remotes = formsOf(own);
  for (const line of table.split("\n").slice(1)) {
    // Whatever its state: one that has closed its half already is still that user's.
    const [, local = "", remote = "", , , , , uid] = line.trim().split(/\s+/);
    if (locals.includes(local) && remotes.includes(remote)) return Number(uid);
  }
  return undefined;
}

/** IPv4 as the tables write it: the address is one word in the machine's order; in tcp6 it is wrapped. */
function formsOf({ host, port }: TcpEnd): string[] {
  const plain = host.replace(/^::ffff:/i, "");
  if (!isIPv4(plain)) return [];
  const bytes = plain.split(".").map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, "0"));
  const word = (isLittleEndian ? bytes.toReversed() : bytes).join("");
  const end = `${word}:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return [end, `0000000000000000FFFF0000${end}`];
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
