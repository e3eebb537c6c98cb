/**
 * Which user's process is at the other end of a TCP connection on this machine, if the system tells it: Linux lists every
 * socket with its user in /proc/net/tcp and tcp6 (proc(5)). Elsewhere, over IPv6, and for peers on other machines or in
 * other network namespaces it is unknown.
 */
import { readFileSync } from "node:fs";
import { isIPv4 } from "node:net";

export interface TcpEnd {
  host: string;
  port: number;
}

/**
 * The user that a table gives for a socket. `nobody`: it is listed but belongs to no process, because it was closed there
 * or is not accepted yet. Its line then often shows user 0.
 */
export type SocketOwner = number | "nobody" | undefined;

/** The texts of /proc/net/tcp and tcp6, each read on demand. */
export type SocketTables = () => Iterable<string>;

/**
 * For the connecting end: does the listener certainly belong to a user other than this one and root (which can read every
 * token anyway)? Synchronous, because the decision precedes the first byte.
 */
export function isAnotherUsersServer(own: TcpEnd, peer: TcpEnd, tables = readTables()): boolean {
  return isAnother(serverOwner(own, peer, tables));
}

/** For the connecting end: does the listener certainly belong to this user or root? */
export function isOwnServer(own: TcpEnd, peer: TcpEnd, tables = readTables()): boolean {
  const owner = serverOwner(own, peer, tables);
  return typeof owner === "number" && !isAnother(owner);
}

function serverOwner(own: TcpEnd, peer: TcpEnd, tables: SocketTables): SocketOwner {
  const owner = found(tables, (table) => ownerIn(table, own, peer));
  // Connected but not accepted yet: the socket belongs to the listener.
  return typeof owner === "number" ? owner : found(tables, (table) => listenerIn(table, peer));
}

/**
 * For the accepting end: is the caller certainly another user, as above, or has it already closed its end? In that case
 * it waits for no answer, and its user can no longer be determined.
 */
export function isAnotherUsersCall(
  own: TcpEnd,
  peer: TcpEnd,
  tables = readTables(),
  again: readonly SocketTables[] = [readTables(), readTables()],
): boolean {
  let owner = found(tables, (table) => ownerIn(table, own, peer));
  // The list is no snapshot: while sockets come and go, a reading may miss an existing one.
  for (const later of again) owner ??= found(later, (table) => ownerIn(table, own, peer));
  if (owner !== undefined) return owner === "nobody" || isAnother(owner);
  // Absent from a complete list of this machine: the connection was reset.
  return (
    peer.host === "" ||
    (LOOPBACK.test(peer.host) && found(tables, (table) => listenerIn(table, own)) !== undefined)
  );
}

/** The user of the peer's socket; undefined: it is not in this table. */
export function ownerIn(table: string, own: TcpEnd, peer: TcpEnd): SocketOwner {
  const locals = formsOf(peer);
  for (const [at, remote] of formsOf(own).entries()) {
    // In any state: a half-closed socket still belongs to that user.
    for (const { owner } of rowsOf(table, `${locals[at]} ${remote}`)) return owner;
  }
  return undefined;
}

/** The user of the listener on this address; a listener on all addresses comes second. */
export function listenerIn(table: string, end: TcpEnd): number | undefined {
  const nobody = anyAddress(0);
  for (const locals of [formsOf(end), anyAddress(end.port)]) {
    for (const [at, local] of locals.entries()) {
      for (const { state, owner } of rowsOf(table, `${local} ${nobody[at]}`)) {
        if (state === LISTENING && typeof owner === "number") return owner;
      }
    }
  }
  return undefined;
}

const LISTENING = "0A";
const LOOPBACK = /^(::ffff:)?127\./i;

/** Searched as text: a table may have thousands of lines, and other users control how many. */
function* rowsOf(table: string, ends: string) {
  const searched = ` ${ends} `;
  for (let at = table.indexOf(searched); at >= 0; at = table.indexOf(searched, at + 1)) {
    const [line = ""] = table.slice(at + searched.length, at + LONGEST_LINE).split("\n");
    const [state, , , , uid, , inode] = line.split(/\s+/);
    yield { state, owner: inode === "0" ? ("nobody" as const) : Number(uid) };
  }
}

/** In tcp6, with every number at its longest. */
const LONGEST_LINE = 400;

function isAnother(owner: SocketOwner): boolean {
  const uid = process.getuid?.();
  return typeof owner === "number" && owner !== uid && owner !== 0;
}

function found(tables: SocketTables, look: (table: string) => SocketOwner): SocketOwner {
  for (const table of tables()) {
    const owner = look(table);
    if (owner !== undefined) return owner;
  }
  return undefined;
}

/** The tables as of the first read, shared by all lookups. */
export function readTables(): SocketTables {
  const read = new Map<string, string>();
  return function* () {
    if (process.platform !== "linux") return;
    for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
      try {
        const text = read.get(file) ?? readFileSync(file, "latin1");
        read.set(file, text);
        yield text;
      } catch {
        // This machine has no such protocol.
      }
    }
  };
}

/** An IPv4 address as the tables write it: one word in the machine's byte order; in tcp6 it is wrapped. */
function formsOf({ host, port }: TcpEnd): string[] {
  const plain = host.replace(/^::ffff:/i, "");
  if (!isIPv4(plain)) return [];
  const bytes = plain.split(".").map((byte) => Number(byte).toString(16).toUpperCase().padStart(2, "0"));
  const word = (isLittleEndian ? bytes.toReversed() : bytes).join("");
  const end = `${word}:${portOf(port)}`;
  return [end, `0000000000000000FFFF0000${end}`];
}

function anyAddress(port: number): string[] {
  return [8, 32].map((digits) => `${"0".repeat(digits)}:${portOf(port)}`);
}

function portOf(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, "0");
}

const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;
