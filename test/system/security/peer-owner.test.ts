/** The user at the other end of a connection of this machine, as Linux lists it. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, expect, test } from "vitest";
import { createConnectionFilter } from "../../../src/shared/machine/connection-filter.js";
import {
  isAnotherUsersCall,
  isAnotherUsersServer,
  listenerIn,
  ownerIn,
} from "../../../src/shared/machine/peer-owner.js";
import { eventually } from "../../harness/eventually.js";

const HEAD =
  "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
const tcp = [
  HEAD,
  "   0: 0100007F:21FC 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100 0 0 10 0",
  "   1: 0100007F:21FC 0100007F:9C40 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0 20 4 30 10 -1",
  "   2: 0100007F:9C40 0100007F:21FC 05 00000000:00000000 00:00000000 00000000  1001        0 3 1 0 20 4 30 10 -1",
].join("\n");
const tcp6 = [
  HEAD,
  "   0: 0000000000000000FFFF00000100007F:9C41 0000000000000000FFFF00000100007F:21FC 01 00000000:00000000 00:00000000 00000000  1002 0 4 1 0 20 4 30 10 -1",
].join("\n");

const editor = { host: "127.0.0.1", port: 0x21fc };

test.each([
  ["a connection", tcp, editor, 0x9c40, 1001],
  ["one over IPv6 that wraps IPv4", tcp6, { ...editor, host: "::ffff:127.0.0.1" }, 0x9c41, 1002],
  ["the accepting end", tcp, { host: "127.0.0.1", port: 0x9c40 }, 0x21fc, 1000],
  ["none that is not listed", tcp, editor, 0x9c42, undefined],
] as const)("is found: %s", (_, table, own, port, uid) => {
  expect(ownerIn(table, own, { host: own.host, port })).toBe(uid);
});

const row = (local: string, remote: string, state: string, uid: number, inode: number): string =>
  `   9: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000  ${uid}        0 ${inode} 1 0 20 4 30 10 -1`;
const tables = (...rows: string[]) => {
  return () => [[HEAD, ...rows].join("\n")];
};
const [EDITOR, CALLER] = ["0100007F:21FC", "0100007F:9C40"];
const caller = { host: "127.0.0.1", port: 0x9c40 };
/** Neither root nor the user of any test. */
const OTHER = 54_321;

describe.skipIf(process.platform !== "linux")("whose call it is", () => {
  const listening = row(EDITOR, "00000000:0000", "0A", 0, 7);

  test.each([
    ["this user's", false, row(CALLER, EDITOR, "01", process.getuid?.() ?? 0, 8)],
    ["another user's", true, row(CALLER, EDITOR, "01", OTHER, 8)],
    // A socket that its process has closed: older systems list it as root's, newer ones do after a moment.
    ["nobody's any more", true, row(CALLER, EDITOR, "05", 0, 0)],
    ["reset, and gone from the list", true, ""],
  ])("%s", (_, isAnothers, line) => {
    expect(isAnotherUsersCall(editor, caller, tables(listening, line))).toBe(isAnothers);
  });

  test("is not known where the list is not this machine's", () => {
    expect(isAnotherUsersCall(editor, caller, tables())).toBe(false);
    expect(isAnotherUsersCall(editor, { host: "192.0.2.7", port: 0x9c40 }, tables(listening))).toBe(false);
  });
});

describe.skipIf(process.platform !== "linux")("whose server it is", () => {
  const called = row(CALLER, EDITOR, "01", 0, 8);
  /** The kernel has connected it, and its program has not taken it: it is nobody's, and older systems say root. */
  const waiting = row(EDITOR, CALLER, "01", 0, 0);
  const isAnothers = (...rows: string[]): boolean =>
    isAnotherUsersServer(caller, editor, tables(called, ...rows));

  test("comes from the listener before it has accepted the connection", () => {
    expect(isAnothers(waiting, row(EDITOR, "00000000:0000", "0A", OTHER, 7))).toBe(true);
    expect(isAnothers(waiting, row("00000000:21FC", "00000000:0000", "0A", OTHER, 7))).toBe(true);
    expect(isAnothers(waiting, row(EDITOR, "00000000:0000", "0A", 0, 7))).toBe(false);
    expect(isAnothers(row(EDITOR, CALLER, "01", OTHER, 9))).toBe(true);
    expect(isAnothers(waiting)).toBe(false);
  });

  test("is of who listens on the address itself, not of who listens on all", () => {
    const any = row("00000000:21FC", "00000000:0000", "0A", OTHER, 7);
    const own = row(EDITOR, "00000000:0000", "0A", 1000, 8);
    for (const lines of [
      [any, own],
      [own, any],
    ]) {
      expect(listenerIn([HEAD, ...lines].join("\n"), editor)).toBe(1000);
    }
    const wrapped = "0000000000000000FFFF00000100007F:21FC";
    const none = "00000000000000000000000000000000:0000";
    expect(listenerIn([HEAD, row(wrapped, none, "0A", 1002, 7)].join("\n"), editor)).toBe(1002);
  });
});

/** A user without rights, whom every system has. */
const NOBODY = 65534;

test("tells another user's process from one of this user", async ({ skip }) => {
  if (process.platform !== "linux" || process.getuid?.() !== 0)
    return skip("only root may start a process of another user, and only Linux lists its sockets");
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const script = `require("node:net").connect(${port}, "127.0.0.1").resume()`;
  for (const uid of [NOBODY, 0]) {
    const child = spawn(process.execPath, ["-e", script], { uid, stdio: "ignore", cwd: "/" });
    const [socket] = await once(server, "connection");
    const own = { host: socket.localAddress, port: socket.localPort };
    const peer = { host: socket.remoteAddress, port: socket.remotePort };
    expect(isAnotherUsersCall(own, peer)).toBe(uid === NOBODY);
    expect(isAnotherUsersServer(own, peer)).toBe(uid === NOBODY);
    socket.destroy();
    child.kill();
    await once(child, "exit");
  }
  server.close();
  await once(server, "close");
});

test("lets nobody in who left before anybody looked, and takes what others send", async () => {
  const said: string[] = [];
  const arrivals = createConnectionFilter((socket) =>
    socket.on("data", (text: Buffer) => void said.push(String(text))),
  );
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    arrived.push(once(socket, "close"));
    arrivals.take(socket);
  });
  const arrived: Promise<unknown>[] = [];
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  // Its end is closed before this process can accept: what it sent waits in the system's hands.
  const script = `const s = require("node:net").connect(${port}, "127.0.0.1", () => s.write("left", () => s.destroy()))`;
  spawnSync(process.execPath, ["-e", script], { stdio: "ignore", cwd: "/" });
  const caller = connect(port, "127.0.0.1");
  caller.write("stayed");
  await eventually(() => arrived.length === 2 && said.length > 0, "both were looked at");
  caller.destroy();
  await Promise.all(arrived);
  expect(said).toEqual(process.platform === "linux" ? ["stayed"] : expect.arrayContaining(["stayed"]));
  arrivals.close();
  server.close();
  await once(server, "close");
});
