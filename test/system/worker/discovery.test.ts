import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { RefusedFile } from "../../../src/shared/editors/refused-endpoint.js";
import {
  createDiscovery,
  type DiscoveredEditor,
  type Discovery,
  type DiscoveryDeps,
  type ExplicitEndpoint,
} from "../../../src/worker/discovery/discovery.js";
import { createQueue } from "../../harness/editor/tcp-peer.js";

type Event = ["found" | "changed" | "lost", DiscoveredEditor];

let root: string;
let folder: string;
const open: Discovery[] = [];
const warnings: object[] = [];

const log = {
  debug: () => {},
  info: () => {},
  warn: (fields: object) => void warnings.push(fields),
  error: (fields: object) => void warnings.push(fields),
};

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "ujb-discovery-"));
  folder = join(root, "editors");
  mkdirSync(folder);
  warnings.length = 0;
});

afterEach(async () => {
  for (const discovery of open.splice(0)) await discovery.close();
  rmSync(root, { recursive: true, force: true });
});

const endpoint = (editorId: string, port: number, more: object = {}) => ({
  editorId,
  projectName: editorId,
  projectPath: `/projects/${editorId}`,
  pid: process.pid,
  host: "127.0.0.1",
  port,
  token: `token of ${editorId}`,
  unityVersion: "6000.0.1f1",
  phase: "idle",
  ...more,
});

/** As an Editor should: whole or not at all. */
const write = (name: string, content: object | string): void => {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(root, "new"), text, { mode: 0o600 });
  renameSync(join(root, "new"), join(folder, name));
};

function discover(deps: Partial<DiscoveryDeps> = {}, onRefused: (files: RefusedFile[]) => void = () => {}) {
  const events = createQueue<Event>();
  const seen: string[] = [];
  const on = (kind: Event[0]) => (editor: DiscoveredEditor) => {
    seen.push(`${kind} ${editor.key}`);
    events.push([kind, editor]);
  };
  const discovery = createDiscovery(
    // Without watching and with an hour between polls, only look() looks: each step is the test's own.
    { folder, explicit: [], log, options: { pollMs: 3_600_000, watch: false }, ...deps },
    { onFound: on("found"), onChanged: on("changed"), onLost: on("lost"), onRefused },
  );
  open.push(discovery);
  return { discovery, next: events.take, seen };
}

describe.each([
  ["that were just written", 0],
  ["that were written long ago", 60_000],
])("Finding Editors by files %s", (_files, age) => {
  beforeEach(() => {
    const now = Date.now;
    vi.spyOn(Date, "now").mockImplementation(() => now() + age);
  });
  afterEach(() => vi.restoreAllMocks());

  it("reports several Editors, their moves and their ends", async () => {
    write("a.json", endpoint("a", 8700));
    write("b.json", endpoint("b", 8701));
    const { discovery, seen } = discover();
    await discovery.look();
    expect(seen.toSorted()).toEqual(["found a", "found b"]);
    expect(
      discovery
        .editors()
        .map(({ port, token }) => [port, token])
        .toSorted(),
    ).toEqual([
      [8700, "token of a"],
      [8701, "token of b"],
    ]);

    write("a.json", endpoint("a", 8702));
    rmSync(join(folder, "b.json"));
    await discovery.look();
    expect(seen.slice(2).toSorted()).toEqual(["changed a", "lost b"]);
  });

  it("takes another phase for no change, and another process for one", async () => {
    write("a.json", endpoint("a", 8700));
    const { discovery, seen } = discover({
      options: { pollMs: 3_600_000, watch: false, isAlive: () => true },
    });
    await discovery.look();
    write("a.json", endpoint("a", 8700, { phase: "compiling" }));
    await discovery.look();
    expect(seen).toEqual(["found a"]);
    write("a.json", endpoint("a", 8700, { pid: process.pid + 1 }));
    await discovery.look();
    expect(seen).toEqual(["found a", "changed a"]);
  });

  it("ignores a file whose process is gone, except on another machine", async () => {
    const gone = new Set([4_000_001]);
    write("stale.json", endpoint("stale", 8700, { pid: 4_000_001 }));
    write("remote.json", endpoint("remote", 8700, { pid: 4_000_001, host: "192.0.2.7" }));
    const { discovery, seen } = discover({
      configured: async () => [{ host: "192.0.2.7", port: 8700 }],
      options: { pollMs: 3_600_000, watch: false, isAlive: (pid) => !gone.has(pid) },
    });
    await discovery.look();
    expect(seen).toEqual(["found 192.0.2.7:8700"]);
    expect(discovery.editors()[0]).toMatchObject({ editorId: "remote", token: "token of remote" });

    gone.clear();
    await discovery.look();
    gone.add(4_000_001);
    await discovery.look();
    expect(seen.slice(1)).toEqual(["found stale", "lost stale"]);
  });

  it("names a malformed file once, without its token, and again when it has changed", async () => {
    write("broken.json", '{"token":"secret", ');
    write("wrong.json", { ...endpoint("wrong", 8700), port: "secret" });
    write("notes.txt", "not an endpoint file at all");
    mkdirSync(join(folder, "folder.json"));
    const { discovery, seen } = discover();
    await discovery.look();
    await discovery.look();
    expect(seen).toEqual([]);
    expect(warnings).toHaveLength(2);
    expect(JSON.stringify(warnings)).not.toContain("secret");

    write("broken.json", "{ still not");
    await discovery.look();
    expect(warnings).toHaveLength(3);
  });

  it("keeps an Editor while its file is half written", async () => {
    write("a.json", endpoint("a", 8700));
    const { discovery, seen } = discover();
    await discovery.look();
    write("a.json", '{"editorId":"a"');
    await discovery.look();
    write("a.json", endpoint("a", 8700));
    await discovery.look();
    expect(seen).toEqual(["found a"]);
  });

  it("does not believe a file that names another machine, unless the configuration names that too", async () => {
    write("remote.json", endpoint("remote", 8700, { host: "192.0.2.7" }));
    const refused: RefusedFile[][] = [];
    let configured: ExplicitEndpoint[] = [];
    const { discovery, seen } = discover({ configured: async () => configured }, (files) =>
      refused.push(files),
    );
    await discovery.look();
    await discovery.look();
    expect(seen).toEqual([]);
    expect(refused.at(-1)).toMatchObject([
      {
        editorId: "remote",
        why: "another_host",
        address: "192.0.2.7:8700",
        path: join(folder, "remote.json"),
      },
    ]);
    expect(warnings).toHaveLength(1);
    expect(JSON.stringify(warnings)).not.toContain("token of");
    configured = [{ host: "192.0.2.7", port: 9000 }];
    await discovery.look();
    expect(seen).toEqual(["found 192.0.2.7:9000", "found remote"]);
    expect(refused.at(-1)).toEqual([]);
    configured = [];
    await discovery.look();
    expect(seen.slice(2)).toEqual(["lost 192.0.2.7:9000", "lost remote"]);
  });

  it.skipIf(process.platform === "win32")("does not believe a file that others may write", async () => {
    write("a.json", endpoint("a", 8700));
    const refused: RefusedFile[][] = [];
    const { discovery, seen } = discover({}, (files) => refused.push(files));
    await discovery.look();
    for (const mode of [0o620, 0o602, 0o666]) {
      chmodSync(join(folder, "a.json"), mode);
      await discovery.look();
      expect(discovery.editors(), mode.toString(8)).toEqual([]);
      expect(refused.at(-1)?.[0]).toMatchObject({
        why: "writable",
        fix: expect.stringContaining("chmod 600 '"),
      });
    }
    chmodSync(join(folder, "a.json"), 0o600);
    await discovery.look();
    expect(seen).toEqual(["found a", "lost a", "found a"]);
  });

  it("waits for no pipe that somebody has put there", async ({ skip }) => {
    if (spawnSync("mkfifo", [join(folder, "pipe.json")]).status !== 0) return skip("no named pipes here");
    write("a.json", endpoint("a", 8700));
    const { discovery, seen } = discover();
    await discovery.look();
    expect(seen).toEqual(["found a"]);
  });

  it("lets the newest of several files of one Editor count", async () => {
    write("old.json", endpoint("a", 8700));
    write("zzz.json", endpoint("a", 8701));
    write("new.json", endpoint("a", 8702));
    const time = (name: string, seconds: number) => utimesSync(join(folder, name), seconds, seconds);
    time("old.json", 1_700_000_000);
    time("zzz.json", 1_700_000_001);
    time("new.json", 1_700_000_002);
    const { discovery } = discover();
    await discovery.look();
    expect(discovery.editors().map(({ port }) => port)).toEqual([8702]);
  });

  it("lets the file of an Editor's own name count before newer ones, and serves the newest Editors first", async () => {
    for (let junk = 0; junk < 300; junk += 1) {
      write(`copy ${junk}.json`, endpoint("true", 9000 + junk));
      write(`left-${junk}.json`, endpoint(`left-${junk}`, 9000 + junk));
      utimesSync(join(folder, `left-${junk}.json`), 1_700_000_000 + junk, 1_700_000_000 + junk);
    }
    write("true.json", endpoint("true", 8700));
    utimesSync(join(folder, "true.json"), 1_700_001_000, 1_700_001_000);
    const { discovery, seen } = discover();
    await discovery.look();
    expect(discovery.editors()[0]).toMatchObject({ editorId: "true", port: 8700 });
    expect([seen.length, ...seen.slice(0, 3)]).toEqual([
      301,
      "found true",
      "found left-299",
      "found left-298",
    ]);
  });

  it("joins a configured address and the file of the Editor there", async () => {
    write("a.json", endpoint("a", 8700));
    const { discovery, seen } = discover({
      explicit: [
        { host: "localhost", port: 8700 },
        { host: "192.0.2.7", port: 8700, token: "t" },
      ],
    });
    await discovery.look();
    expect(seen).toEqual(["found localhost:8700", "found 192.0.2.7:8700"]);
    expect(discovery.editors()[0]).toMatchObject({ token: "token of a", editorId: "a" });

    rmSync(join(folder, "a.json"));
    await discovery.look();
    expect(seen.slice(2)).toEqual(["changed localhost:8700"]);
  });

  it("looks by itself, also for a folder that does not exist yet", async () => {
    rmSync(folder, { recursive: true });
    const { next } = discover({ options: { pollMs: 20, watch: false } });
    mkdirSync(folder);
    write("a.json", endpoint("a", 8700));
    expect((await next())[0]).toBe("found");
  });

  it("sees a change at once where the system reports changes", async () => {
    const { discovery, next } = discover({ options: { pollMs: 3_600_000 } });
    await discovery.look();
    write("a.json", endpoint("a", 8700));
    expect((await next())[0]).toBe("found");
  });

  it("goes on when a handler throws, and reports nothing after close()", async () => {
    write("a.json", endpoint("a", 8700));
    write("b.json", endpoint("b", 8701));
    const seen: string[] = [];
    const discovery = createDiscovery(
      { folder, explicit: [], log, options: { pollMs: 20 } },
      {
        onFound(editor) {
          seen.push(editor.key);
          throw new Error("no");
        },
        onChanged: () => {},
        onLost: () => {},
      },
    );
    await discovery.look();
    expect(seen).toEqual(["a", "b"]);
    write("c.json", endpoint("c", 8702));
    const late = discovery.look();
    await discovery.close();
    await late;
    await discovery.look();
    expect(seen).toEqual(["a", "b"]);
    expect(process.getActiveResourcesInfo()).not.toContain("FSEventWrap");
  });
});
