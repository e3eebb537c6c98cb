/** The user at the other end of a connection of this machine, as Linux lists it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect, test } from "vitest";
import { isAnotherUsers, ownerIn } from "../src/shared/machine/peer-owner.js";

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
    expect(isAnotherUsers(own, peer)).toBe(uid === NOBODY);
    socket.destroy();
    child.kill();
    await once(child, "exit");
  }
  server.close();
  await once(server, "close");
});
