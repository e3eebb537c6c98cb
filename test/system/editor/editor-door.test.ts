/** Nobody speaks to an Editor without its token, the token is never shown, and strangers keep nobody out. */
import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { addressOf, isProof, newNonce, proofOf } from "../../../src/shared/wire/editor-proof.js";
import { HelloResult } from "../../../src/shared/wire/wire.js";
import { askProven } from "../../../src/worker/editor/proving.js";
import { type Connection, createConnection } from "../../../src/worker/transport/connection.js";
import { startTcpPeer } from "../../harness/editor/tcp-peer.js";
import { expectNoLeak } from "../../harness/processes/leaks.js";
import { layCable } from "../../harness/system/cable.js";
import { connectClient, createStage, helloRefusal, shakeHands } from "../simulator/simulator-client.js";

const log = { debug() {}, info() {}, warn() {}, error() {} };
const stage = createStage();
const closers: (() => unknown)[] = [];

const golden = JSON.parse(readFileSync(new URL("../../golden/proof.json", import.meta.url), "utf8")) as {
  cases: {
    name: string;
    role: "editor" | "worker";
    token: string;
    workerNonce: string;
    editorNonce: string;
    address: string;
    proof: string;
  }[];
};

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  await stage.clear();
  await expectNoLeak();
});

const HELLO = {
  ...{ protocol: 1, storeId: "s", brokerId: "b", workerId: "w", version: "1" },
  ...{ epoch: 1, ownerNonce: "n" },
};

/** As a worker calls. */
async function dial(port: number): Promise<Connection> {
  const line = createConnection({ host: "127.0.0.1", port, log, onNotification() {} });
  closers.push(() => line.close());
  await line.opened;
  return line;
}

/** Resolves when the other end has closed the connection. */
const ended = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.on("error", () => {});
    socket.resume();
    socket.on("close", () => resolve());
  });

const idle = async (port: number): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1" });
  closers.push(() => socket.destroy());
  await new Promise((resolve, reject) => socket.once("connect", resolve).once("error", reject));
  return socket;
};

describe("a proof", () => {
  test.each(golden.cases)("is $name", ({ role, token, proof, ...challenge }) => {
    expect(proofOf(role, token, challenge)).toBe(proof);
    expect(isProof(proof, role, token, challenge)).toBe(true);
    expect(isProof(proof, role === "editor" ? "worker" : "editor", token, challenge)).toBe(false);
    expect(isProof("", role, token, challenge)).toBe(false);
  });

  test("names an IPv4 address in one way", () => {
    expect(addressOf("::ffff:127.0.0.1", 8700)).toBe(addressOf("127.0.0.1", 8700));
  });
});

describe("an Editor's door", () => {
  test("shows the token to nobody, not even to the worker that has it", async () => {
    const editor = await stage.editor();
    const said: Buffer[] = [];
    const cable = await layCable(() => ({ host: "127.0.0.1", port: editor.port }), {
      passed: (_connection, _way, bytes) => void said.push(bytes),
      ended: () => {},
    });
    closers.push(() => cable.close());
    const line = await dial(cable.port);
    const secret = { token: editor.token, listensOn: `127.0.0.1:${editor.port}` };
    await askProven(line, secret, HelloResult, "bridge/hello", HELLO);
    await line.request("operation/list", {});
    expect(Buffer.concat(said).includes(editor.token)).toBe(false);
    expect(Buffer.concat(said).includes("bridge/prove")).toBe(true);
  });

  test("is closed to a proof from another port: who passes the words on gains nothing", async () => {
    const editor = await stage.editor();
    const cable = await layCable(() => ({ host: "127.0.0.1", port: editor.port }));
    closers.push(() => cable.close());
    const line = await dial(cable.port);
    await expect(
      askProven(line, { token: editor.token }, HelloResult, "bridge/hello", HELLO),
    ).rejects.toMatchObject({ name: "UnprovenEditor" });
    const client = await connectClient(cable.port);
    closers.push(() => client.close());
    // As the relay's victim would prove itself to the relay.
    expect(await helloRefusal(client, { port: cable.port, token: editor.token })).toMatchObject({
      code: -32010,
    });
    expect(await shakeHands(await stage.client(editor), editor)).toMatchObject({ editorId: editor.editorId });
  });

  test("takes each proof once, and none for another's challenge", async () => {
    const editor = await stage.editor();
    const [one, other] = [await stage.client(editor), await stage.client(editor)];
    const challenged = async (client: typeof one) => {
      const workerNonce = newNonce();
      const { nonce } = await client.request("bridge/hello", { ...HELLO, nonce: workerNonce });
      const address = `127.0.0.1:${editor.port}`;
      return proofOf("worker", editor.token, { workerNonce, editorNonce: String(nonce), address });
    };
    const proof = await challenged(one);
    await challenged(other);
    expect(await other.refusal("bridge/prove", { proof })).toMatchObject({ code: -32010 });
    await other.gone;
    expect(await one.request("bridge/prove", { proof })).toMatchObject({ editorId: editor.editorId });
    expect(await one.refusal("bridge/prove", { proof })).toMatchObject({ code: -32010 });
    await one.gone;
  });

  test("does nothing of a hello that was not proven", async () => {
    const editor = await stage.editor();
    const owner = await stage.owner(editor, { epoch: 1 });
    const stranger = await stage.client(editor);
    const said = { ...HELLO, epoch: 9 };
    await stranger.request("bridge/hello", { ...said, nonce: newNonce() });
    expect(await stranger.refusal("bridge/prove", { proof: "0".repeat(64) })).toMatchObject({ code: -32010 });
    await stranger.gone;
    expect(await owner.submit("op")).toMatchObject({ state: "accepted" });
    expect(
      await helloRefusal(await stage.client(editor), editor, { epoch: 1, ownerNonce: "other" }),
    ).toMatchObject({
      data: { highestEpoch: 1 },
    });
  });

  test("answers no tool, no list and no ping without a proof, unless its plain surface is on", async () => {
    const editor = await stage.editor();
    const stranger = await stage.client(editor);
    for (const method of ["ping", "get-tool-details", "set-client-name", "compile", "get-hierarchy"]) {
      expect(await stranger.refusal(method, {}), method).toMatchObject({
        data: { type: "security_blocked" },
      });
    }
    const open = await stage.editor({ plainSurface: true });
    const plain = await stage.client(open);
    expect(await plain.request("ping", { Message: "x" })).toEqual({ Message: "Unity Editor received: x" });
    expect(await plain.request("compile", {})).toBeDefined();
  });

  test("closes a stranger after a while, and not a worker", async () => {
    // Long enough for a worker to say hello on a machine whose cores are all busy.
    const editor = await stage.editor({ strangerMs: 1_500 });
    const owner = await stage.owner(editor);
    await ended(await idle(editor.port));
    expect(await owner.request("operation/list", {})).toMatchObject({ operations: [] });
  });

  test("tells a stranger nothing of what it tells everybody", async () => {
    const editor = await stage.editor({ strangerMs: 3_600_000 });
    const owner = await stage.owner(editor);
    const stranger = await stage.client(editor);
    const hello = () => stranger.request("bridge/hello", { ...HELLO, nonce: newNonce() });
    await hello();
    editor.toolsChanged();
    await owner.notice("notifications/tools/list_changed");
    // What is answered comes behind what was told to everybody.
    await hello();
    expect(stranger.unread("notifications/tools/list_changed")).toEqual([]);
  });

  test("is never kept from its owner by idle strangers", async () => {
    const editor = await stage.editor({ strangerMs: 3_600_000 });
    const first = await idle(editor.port);
    const firstEnded = ended(first);
    for (let count = 0; count < 40; count++) void ended(await idle(editor.port));
    await firstEnded;
    const owner = await stage.owner(editor);
    for (let count = 0; count < 40; count++) void ended(await idle(editor.port));
    expect(await owner.request("operation/list", {})).toMatchObject({ operations: [] });
  });

  test("hears its owner in the middle of four hundred strangers that come at once", async () => {
    const editor = await stage.editor({ strangerMs: 3_600_000 });
    const crowd = () => Array.from({ length: 200 }, async () => void ended(await idle(editor.port)));
    const before = crowd();
    const owner = stage.owner(editor);
    const after = crowd();
    expect(await (await owner).request("operation/list", {})).toMatchObject({ operations: [] });
    await Promise.all([...before, ...after]);
  });
});

describe("a worker", () => {
  test("proves nothing to what listens on the Editor's port without its token", async () => {
    const squatter = await startTcpPeer();
    closers.push(() => squatter.close());
    const line = await dial(squatter.port);
    const secret = { token: "the token" };
    const asked = askProven(line, secret, HelloResult, "bridge/hello", { storeId: "s" });
    const refused = expect(asked).rejects.toMatchObject({ name: "UnprovenEditor" });
    const there = await squatter.accept();
    const { id, params } = await there.nextRequest("bridge/hello");
    expect(Object.keys(params).sort()).toEqual(["nonce", "storeId"]);
    // What the worker says of itself is no answer to it.
    const echo = {
      workerNonce: String(params.nonce),
      editorNonce: String(params.nonce),
      address: `127.0.0.1:${squatter.port}`,
    };
    there.reply(id, { nonce: params.nonce, proof: proofOf("editor", "a guess", echo) });
    await refused;
  });

  test("keeps nothing of what a stranger says unasked, nor long frames, and does of the Editor", async () => {
    const peer = await startTcpPeer();
    closers.push(() => peer.close());
    const heard: string[] = [];
    const onNotification = (method: string) => void heard.push(method);
    const line = createConnection(
      { host: "127.0.0.1", port: peer.port, log, onNotification },
      { isStranger: true, requestTimeoutMs: 50 },
    );
    closers.push(() => line.close());
    await line.opened;
    const there = await peer.accept();
    const long = line.request("bridge/hello", {}, { timeoutMs: 50 });
    const refused = expect(long).rejects.toMatchObject({ name: "FrameTooLarge" });
    there.notify("notifications/server/shutdown");
    there.reply((await there.nextRequest("bridge/hello")).id, "x".repeat(20_000));
    await refused;
    expect(heard).toEqual([]);
    line.trust();
    const asked = line.request("operation/list", {});
    there.notify("bridge/heartbeat");
    there.reply((await there.nextRequest("operation/list")).id, "x".repeat(200_000));
    expect(await asked).toHaveLength(200_000);
    expect(heard).toEqual(["bridge/heartbeat"]);
  });

  test("proves nothing where it knows no token", async () => {
    const editor = await stage.editor();
    const line = await dial(editor.port);
    await expect(askProven(line, { token: "" }, HelloResult, "bridge/hello", HELLO)).rejects.toMatchObject({
      name: "UnprovenEditor",
    });
  });
});
