import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import {
  type EmbeddedRedisOptions,
  ensureEmbeddedRedis,
  stopEmbeddedRedis,
} from "../../../src/embedded-redis/embedded-redis.js";
import { findRedisBinary, type RedisBinary } from "../../../src/embedded-redis/package/binary.js";
import {
  cachedTree,
  claimRenewal,
  renewCached,
  whyNotCached,
} from "../../../src/embedded-redis/package/cached-redis.js";
import { checkedAt, packagesIn, seal, setChecked } from "../../../src/embedded-redis/package/package-seal.js";
import { findProgram, runCommand, searchDirectories } from "../../../src/embedded-redis/run-command.js";
import { makeSocketPath, socketPaths } from "../../../src/embedded-redis/run-directory.js";
import { identify } from "../../../src/shared/machine/living-process.js";
import {
  createDataDirectory,
  plantRedis,
  startTestRedis,
  type TestDataDirectory,
} from "../../harness/redis/redis.js";

const { cacheDir } = defaultDirectories(process.env);
const silent = () => {};

let data: TestDataDirectory;
let options: EmbeddedRedisOptions;
let scratch: string;
const clients: Redis[] = [];

beforeEach(() => {
  data = createDataDirectory();
  scratch = mkdtempSync(join(tmpdir(), "ujb-scratch-"));
  options = { dataDir: data.dataDir, cacheDir, env: process.env, say: silent };
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await data.remove();
  rmSync(scratch, { recursive: true, force: true });
});

/** A client which, like a broker's, keeps trying while the server is away. */
function connect(address: { path: string } | { host: string; port: number }): Redis {
  const client = new Redis({ ...address, retryStrategy: () => 20, maxRetriesPerRequest: null });
  client.on("error", silent);
  clients.push(client);
  return client;
}

async function killServer(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  await expect.poll(() => identify(pid), { interval: 5 }).toBeUndefined();
}

/** Another broker process: ensures the server `calls` times at once, prints each result, and stays. */
function startBroker(calls: number): {
  process: ChildProcess;
  results(): Promise<{ pid: number; started: boolean }[]>;
} {
  const module = new URL("../../../src/embedded-redis/embedded-redis.ts", import.meta.url).href;
  const script = `
    const { ensureEmbeddedRedis } = await import(${JSON.stringify(module)});
    const options = { dataDir: process.argv[1], cacheDir: process.argv[2], env: process.env, say() {} };
    await Promise.all(Array.from({ length: ${calls} }, async () => {
      console.log(JSON.stringify(await ensureEmbeddedRedis(options)));
    }));
    setInterval(() => {}, 1000);
  `;
  const child = spawn(
    process.execPath,
    ["--import", "tsx", "--input-type=module", "-e", script, data.dataDir, cacheDir],
    // A group of its own, so that a test can kill all that belongs to it, as closing a terminal does.
    { stdio: ["ignore", "pipe", "pipe"], detached: true },
  );
  let said = "";
  child.stderr?.on("data", (text) => {
    said += text;
  });
  return {
    process: child,
    async results() {
      const found: { pid: number; started: boolean }[] = [];
      for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
        found.push(JSON.parse(line));
        if (found.length === calls) break;
      }
      expect(found, said).toHaveLength(calls);
      return found;
    },
  };
}

async function killGroup(child: ChildProcess): Promise<void> {
  // What it has printed says why.
  if (child.exitCode !== null) return;
  const gone = once(child, "exit");
  process.kill(-(child.pid as number), "SIGKILL");
  await gone;
}

describe("one server for all processes", () => {
  test("the first call starts a server that is private, keeps everything and evicts nothing", async () => {
    const first = await ensureEmbeddedRedis(options);
    const second = await ensureEmbeddedRedis(options);

    expect(first.started).toBe(true);
    expect(second).toEqual({ ...first, started: false });
    const { path } = first.address as { path: string };
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(data.dataDir, "redis", "endpoint.json")).mode & 0o777).toBe(0o600);
    const client = connect({ path });
    const config = await client.config(
      "GET",
      "appendonly",
      "appendfsync",
      "maxmemory-policy",
      "port",
      "save",
    );
    expect(toRecord(config)).toMatchObject({
      appendonly: "yes",
      appendfsync: "always",
      "maxmemory-policy": "noeviction",
      port: "0",
      save: "",
    });
  });

  test("sixty calls from three processes at once give one server", async () => {
    const brokers = [startBroker(20), startBroker(20), startBroker(20)];
    try {
      const results = (await Promise.all(brokers.map((broker) => broker.results()))).flat();

      expect(new Set(results.map((result) => result.pid)).size).toBe(1);
      expect(results.filter((result) => result.started)).toHaveLength(1);
      expect(await serversIn(data.dataDir)).toHaveLength(1);
      expect(claimsIn(data.dataDir)).toEqual([]);
    } finally {
      for (const broker of brokers) await killGroup(broker.process);
    }
  });

  test("many processes that find a killed server replace it by one", async () => {
    await killServer((await ensureEmbeddedRedis(options)).pid);
    const brokers = [startBroker(7), startBroker(7), startBroker(6)];
    try {
      const results = (await Promise.all(brokers.map((broker) => broker.results()))).flat();
      expect(new Set(results.map((result) => result.pid)).size).toBe(1);
      expect(results.filter((result) => result.started)).toHaveLength(1);
    } finally {
      for (const broker of brokers) await killGroup(broker.process);
    }
  });

  test("the server survives the SIGKILL of the process that started it, and of its group", async () => {
    const broker = startBroker(1);
    const [result] = await broker.results();
    await killGroup(broker.process);

    const found = await ensureEmbeddedRedis(options);
    expect(found.pid).toBe(result?.pid);
    expect(found.started).toBe(false);
  });
});

describe("what a crash leaves", () => {
  test("a killed server is replaced with its data, and connected clients find the new one", async () => {
    const first = await ensureEmbeddedRedis(options);
    const client = connect(first.address as { path: string });
    await client.set("operation", "executed");
    await killServer(first.pid);

    const second = await ensureEmbeddedRedis(options);

    expect(second.started).toBe(true);
    expect(second.pid).not.toBe(first.pid);
    expect(second.address).toEqual(first.address);
    expect(await client.get("operation")).toBe("executed");
  });

  test("a claim of a dead process, or of a stranger with its id, stops nobody", async () => {
    const directory = join(data.dataDir, "redis");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, `starting.${await deadProcess()}.00000000.abc`), "");
    writeFileSync(join(directory, `starting.${process.pid}.00000000.abc`), "");

    expect((await ensureEmbeddedRedis(options)).started).toBe(true);
    expect(claimsIn(data.dataDir)).toEqual([]);
  });

  test.each([
    [
      "names a dead process",
      async () => JSON.stringify({ pid: await deadProcess(), address: { path: "/nowhere/s" } }),
    ],
    [
      "names a stranger that has the id now",
      async () =>
        JSON.stringify({ pid: process.pid, mark: "another start", address: { path: "/nowhere/s" } }),
    ],
    ["is half written", async () => '{"pid": 12'],
  ])("an endpoint file that %s is replaced", async (_name, content) => {
    mkdirSync(join(data.dataDir, "redis"), { recursive: true });
    writeFileSync(join(data.dataDir, "redis", "endpoint.json"), await content());

    expect((await ensureEmbeddedRedis(options)).started).toBe(true);
  });

  test("a running server whose endpoint file is lost is adopted", async () => {
    const first = await ensureEmbeddedRedis(options);
    rmSync(join(data.dataDir, "redis", "endpoint.json"));

    expect(await ensureEmbeddedRedis(options)).toEqual({ ...first, started: false });
  });

  test("a running server whose socket is lost saves, ends and is replaced: never two on one file", async () => {
    const first = await ensureEmbeddedRedis(options);
    const client = connect(first.address as { path: string });
    await client.set("operation", "executed");
    rmSync((first.address as { path: string }).path);

    const second = await ensureEmbeddedRedis(options);

    expect(second.started).toBe(true);
    expect(identify(first.pid)).toBeUndefined();
    expect(await client.get("operation")).toBe("executed");
  });

  test("a server that reads a long file is waited for, by others too", async () => {
    const files = join(data.dataDir, "redis", "appendonlydir");
    mkdirSync(files, { recursive: true });
    writeFileSync(join(files, "appendonly.aof.manifest"), "file appendonly.aof.1.incr.aof seq 1 type i\n");
    const writes = Array.from(
      { length: 400_000 },
      (_, n) => `*3\r\n$3\r\nSET\r\n$7\r\nk${n + 100_000}\r\n$1\r\n1\r\n`,
    );
    writeFileSync(join(files, "appendonly.aof.1.incr.aof"), writes.join(""));

    const [one, other] = await Promise.all([ensureEmbeddedRedis(options), ensureEmbeddedRedis(options)]);

    expect(other.pid).toBe(one.pid);
    expect(await connect(one.address as { path: string }).dbsize()).toBe(writes.length);
  });

  test("a server that cannot start says what its log says", async () => {
    mkdirSync(join(data.dataDir, "redis", "appendonlydir", "appendonly.aof.manifest"), { recursive: true });

    await expect(ensureEmbeddedRedis(options)).rejects.toMatchObject({
      code: "REDIS_START_FAILED",
      message: expect.stringMatching(/did not start\. .*redis\.log ends with:\n.*appendonly\.aof\.manifest/s),
    });
    expect(await stopEmbeddedRedis(options)).toBe(false);
  });
});

describe("down", () => {
  test("saves, ends the server and clears its traces; a second time there is none", async () => {
    const first = await ensureEmbeddedRedis(options);
    await connect(first.address as { path: string }).set("operation", "executed");
    expect(identify(first.pid)).toBeDefined();

    expect(await stopEmbeddedRedis(options)).toBe(true);

    expect(identify(first.pid)).toBeUndefined();
    expect(existsSync(dirname((first.address as { path: string }).path))).toBe(false);
    expect(await stopEmbeddedRedis(options)).toBe(false);

    const again = await ensureEmbeddedRedis(options);
    expect(again.started).toBe(true);
    expect(await connect(again.address as { path: string }).get("operation")).toBe("executed");
  });
});

describe("where there are no unix sockets", () => {
  /** Windows with Memurai: here a script of that name, before a real server. */
  async function windows(): Promise<EmbeddedRedisOptions> {
    await plantRedis(join(scratch, "memurai.exe"));
    return { ...options, platform: "win32", env: { PATH: scratch } };
  }
  type PortAddress = { host: string; port: number; password: string };

  test("one local port with a password, kept when the server is replaced", async () => {
    const given = await windows();
    const first = await ensureEmbeddedRedis(given);
    const address = first.address as PortAddress;
    expect(address.host).toBe("127.0.0.1");
    expect(await connect(address).ping()).toBe("PONG");
    await expect(connect({ host: address.host, port: address.port }).ping()).rejects.toThrow("NOAUTH");
    expect(await ensureEmbeddedRedis(given)).toEqual({ ...first, started: false });

    await killServer(first.pid);
    const second = await ensureEmbeddedRedis(given);
    expect(second.started).toBe(true);
    expect(second.address).toEqual(first.address);
  });

  test("a running server whose endpoint file is lost is adopted: never two on one file", async () => {
    const given = await windows();
    const first = await ensureEmbeddedRedis(given);
    rmSync(join(data.dataDir, "redis", "endpoint.json"));

    expect(await ensureEmbeddedRedis(given)).toEqual({ ...first, started: false });
  });

  test("down saves and ends it, though its endpoint file is lost", async () => {
    const given = await windows();
    const first = await ensureEmbeddedRedis(given);
    await connect(first.address as PortAddress).set("operation", "executed");
    rmSync(join(data.dataDir, "redis", "endpoint.json"));

    expect(await stopEmbeddedRedis(given)).toBe(true);

    expect(identify(first.pid)).toBeUndefined();
    const again = await ensureEmbeddedRedis(given);
    expect(await connect(again.address as PortAddress).get("operation")).toBe("executed");
  });
});

describe("the binary", () => {
  const linux = process.platform === "linux";

  test.runIf(linux)("without Redis on PATH the cache supplies one", async () => {
    const { file, find, finding } = await cached();

    expect((await find()).file).toBe(file);
    expect((await ensureEmbeddedRedis({ ...options, ...finding })).started).toBe(true);
  });

  // apt itself is real where the global set-up has to obtain a Redis; here it hands out one package without a network.
  test.runIf(linux && onPath("dpkg-deb"))("two at once fetch and unpack into one cache", async () => {
    const path = programs("dpkg", "dpkg-deb", "tar", "rm", "sh", "cp");
    const source = await packedRedis();
    writeProgram(join(path, "apt-get"), `case "$*" in *install*) cp ${source} . ;; esac`);
    const abandoned = join(scratch, "cache", "redis", `.obtaining-${await deadProcess()}-x`);
    mkdirSync(abandoned, { recursive: true });
    const said: string[] = [];
    const fetching = {
      cacheDir: join(scratch, "cache"),
      env: { PATH: path },
      say: (text: string) => said.push(text),
    };

    const [one, other] = await Promise.all([findRedisBinary(fetching), findRedisBinary(fetching)]);

    expect(one.file).toBe(other.file);
    expect(said[0]).toMatch(/^No Redis on this machine: fetching the signed redis-server package into /);
    expect(readdirSync(join(scratch, "cache", "redis")).filter((name) => name.startsWith("."))).toEqual([]);

    const sealed = JSON.parse(readFileSync(join(dirname(one.file), "..", "..", "packages.json"), "utf8")) as {
      packages: unknown;
    };
    expect(sealed.packages).toEqual([
      {
        name: "redis-server_7_all.deb",
        sha256: createHash("sha256").update(readFileSync(source)).digest("hex"),
      },
    ]);

    // A cached tree that stopped working, as after an upgrade of the system, is fetched again.
    writeProgram(one.file, "exit 127");
    expect((await findRedisBinary(fetching)).version).toBe(one.version);
  });

  describe.runIf(linux)("in the cache", () => {
    /** Says that it was run. */
    const planted = (): string => `touch '${join(scratch, "ran")}'; echo "Redis server v=7.9.9"`;

    const FOREIGN: Record<string, (place: { tree: string; file: string }) => void> = {
      "a program that was changed": ({ file }) => writeProgram(file, planted()),
      "a record of its packages that is gone": ({ tree }) => rmSync(join(tree, "packages.json")),
      "a library that was added": ({ tree }) => writeFileSync(join(tree, "usr", "libc.so.6"), ""),
      "a program that others can write": ({ file }) => chmodSync(file, 0o777),
      "a folder that others can write": ({ file }) => chmodSync(dirname(file), 0o777),
      "a cache that others can write": ({ tree }) => chmodSync(dirname(tree), 0o777),
      "a link that leads out": ({ file }) => {
        rmSync(file);
        writeProgram(join(scratch, "elsewhere"), planted());
        symlinkSync(join(scratch, "elsewhere"), file);
      },
      "another user's tree (needs root)": ({ tree }) => chownSync(tree, 65534, 65534),
      "another user's program (needs root)": ({ file }) => {
        writeProgram(file, planted());
        chownSync(file, 65534, 65534);
      },
    };
    for (const [what, change] of Object.entries(FOREIGN)) {
      test.skipIf(process.getuid?.() !== 0 && what.includes("root"))(`${what} is not run`, async () => {
        const place = await cached();
        expect((await place.find()).file, "the twin that is untouched").toBe(place.file);
        change(place);
        await expect(place.find()).rejects.toThrow(
          /differs from its package|has no record of its packages|can be written by others|belongs to user|leads out of/,
        );
        expect(existsSync(join(scratch, "ran"))).toBe(false);
      });
    }

    test("a newer package is looked for once a week, by one process", async () => {
      const { tree } = await cached();
      const now = Date.now();
      expect(claimRenewal(tree, now)).toBe(false);
      setChecked(tree, now - 8 * 86_400_000);
      expect(claimRenewal(tree, now)).toBe(true);
      expect(claimRenewal(tree, now)).toBe(false);
    });

    test.runIf(onPath("dpkg-deb"))("a newer package replaces it, an older one and none do not", async () => {
      const { tree, file } = await cached();
      const source = await packedRedis();
      const path = programs("dpkg", "dpkg-deb", "tar", "rm", "sh", "cp");
      const before = statSync(file).ino;
      const renew = (name: string) => {
        writeProgram(join(path, "apt-get"), `case "$*" in *install*) cp '${source}' './${name}' ;; esac`);
        return renewCached(tree, { PATH: path }, async () => undefined, Date.now());
      };
      const dayAgo = Date.now() - 86_400_000;
      setChecked(tree, 0);
      await renew("redis-server_5%3a7.0.14-9_amd64.deb");
      expect(statSync(file).ino).toBe(before);
      expect(checkedAt(tree), "looked at now").toBeGreaterThan(dayAgo);

      writeProgram(join(path, "apt-get"), "exit 100");
      await renewCached(tree, { PATH: path }, async () => undefined, Date.now());
      expect(statSync(file).ino).toBe(before);
      expect(claimRenewal(tree, Date.now() + 86_400_000), "tried again a day later").toBe(true);

      await renew("redis-server_5%3a7.0.15-2_amd64.deb");
      expect(statSync(file).ino).not.toBe(before);
      expect(packagesIn(tree).map(({ name }) => name)).toEqual(["redis-server_5%3a7.0.15-2_amd64.deb"]);
      expect(whyNotCached(tree)).toBeUndefined();
    });
  });

  test("a named binary that does not work is an error, and nothing else is tried", async () => {
    const binary = join(scratch, "redis-server");
    await expect(findRedisBinary({ ...options, binary })).rejects.toMatchObject({
      code: "REDIS_UNAVAILABLE",
      details: {
        attempts: [
          { tried: `UNITY_BROKER_REDIS_BINARY=${binary}`, because: expect.stringContaining("ENOENT") },
        ],
      },
    });
    writeProgram(binary, 'echo "Redis server v=6.0.16 sha=0 malloc=libc"');
    await expect(findRedisBinary({ ...options, binary })).rejects.toThrow("6.0 is too old, 6.2 is needed");
  });

  const nothing = () => ({ cacheDir: join(scratch, "cache"), env: { PATH: scratch }, say: silent });

  test("Linux without apt: what was tried, and a line for each family", async () => {
    const message = await refusal({ ...nothing(), platform: "linux" });
    expect(message).toContain("valkey-server on PATH: not there");
    expect(message).toContain("apt-get and dpkg are not on PATH");
    expect(message).toContain("sudo apt-get install -y redis-server");
    expect(message).toContain("docker run -d --name unity-broker-redis");
    expect(message).toContain("REDIS_URL=redis://");
  });

  // The second is apt with an installed redis-server that no source has any more: it succeeds, and leaves nothing.
  test.each([
    ["fails", "exit 100"],
    ["succeeds without a package", 'case "$*" in *install*) exit 0 ;; *) exit 100 ;; esac'],
  ])("Linux whose apt %s: apt's own words", async (_what, end) => {
    const words = "E: Unable to locate package redis-server";
    writeProgram(join(scratch, "apt-get"), `echo "${words}" >&2; ${end}`);
    writeProgram(join(scratch, "dpkg"), "exit 1");
    const message = await refusal({ ...nothing(), platform: "linux" });
    expect(message).toContain(`apt-get download: ${words}`);
  });

  // On a Mac these would find what Homebrew installed, wherever PATH leads.
  test.skipIf(process.platform === "darwin")("macOS without Homebrew", async () => {
    const message = await refusal({ ...nothing(), platform: "darwin" });
    expect(message).toContain("brew is not on PATH");
    expect(message).toMatch(/Homebrew: +brew install redis/);
    expect(message).not.toContain("apt-get");
  });

  test.skipIf(process.platform === "darwin")("macOS with Homebrew: it installs, and is said to", async () => {
    const file = join(scratch, "redis-server");
    await plantRedis(file);
    const prefix = join(scratch, "homebrew");
    const script = `case "$1" in --prefix) echo '${prefix}' ;; *) mkdir -p '${prefix}/bin' && ln -s '${file}' '${prefix}/bin/redis-server' ;; esac`;
    const path = programs("mkdir", "ln");
    writeProgram(join(path, "brew"), script);
    const said: string[] = [];
    const found = await findRedisBinary({
      cacheDir: join(scratch, "cache"),
      env: { ...process.env, PATH: path },
      platform: "darwin",
      say: (text) => said.push(text),
    });
    expect(found.file).toBe(join(prefix, "bin", "redis-server"));
    expect(said).toEqual([expect.stringContaining("brew install redis")]);
  });

  test.skipIf(process.platform === "darwin")("macOS whose Homebrew fails: its own words", async () => {
    writeProgram(join(scratch, "brew"), 'echo "Error: no bottle available!" >&2; exit 1');
    const message = await refusal({ ...nothing(), platform: "darwin" });
    expect(message).toContain("brew install redis: Error: no bottle available!");
  });

  test("Windows", async () => {
    const message = await refusal({ ...nothing(), platform: "win32" });
    expect(message).toContain("memurai on PATH: not there");
    // Debian's and Homebrew's ways are not tried there.
    expect(message).not.toContain("brew");
    expect(message).toContain("winget install Memurai.MemuraiDeveloper");
    expect(message).toContain("REDIS_URL=redis://");
    expect(message).not.toContain("apt-get");
  });

  async function refusal(finding: Parameters<typeof findRedisBinary>[0]): Promise<string> {
    const error = await findRedisBinary(finding).then(
      () => undefined,
      (reason) => reason,
    );
    expect(error).toMatchObject({ code: "REDIS_UNAVAILABLE" });
    return error.message;
  }
});

describe("places", () => {
  test("programs are also where a process started from a desktop does not look", () => {
    expect(searchDirectories({ PATH: "/bin" }, "linux")).toEqual(["/bin"]);
    expect(searchDirectories({ PATH: "/bin" }, "darwin")).toEqual(
      expect.arrayContaining(["/bin", "/opt/homebrew/bin", "/usr/local/bin", "/opt/local/bin"]),
    );
    expect(searchDirectories({ Path: "", ProgramFiles: "D:\\Programs" }, "win32")).toEqual([
      "D:\\Programs\\Memurai",
    ]);
    // A script would not start without a shell.
    writeProgram(join(scratch, "memurai.cmd"), "");
    expect(findProgram(["memurai"], [scratch], "win32")).toBeUndefined();
  });

  test("each platform's own convention", () => {
    expect(defaultDirectories({ HOME: "/home/u" }, "linux")).toEqual({
      dataDir: "/home/u/.local/share/unity-job-broker",
      cacheDir: "/home/u/.cache/unity-job-broker",
    });
    expect(
      defaultDirectories({ HOME: "/h", XDG_DATA_HOME: "/d", XDG_CACHE_HOME: "relative" }, "linux"),
    ).toEqual({
      dataDir: "/d/unity-job-broker",
      cacheDir: "/h/.cache/unity-job-broker",
    });
    expect(defaultDirectories({ HOME: "/Users/u" }, "darwin").dataDir).toBe(
      "/Users/u/Library/Application Support/unity-job-broker",
    );
    expect(defaultDirectories({ LOCALAPPDATA: "C:\\L" }, "win32").cacheDir).toBe(
      "C:\\L\\unity-job-broker\\cache",
    );
  });
});

describe("the run directory", () => {
  const isRoot = process.getuid?.() === 0;
  const uid = process.getuid?.();
  const nobody = 65534;
  const first = (): string => join(scratch, `ujb-${uid}`);

  test("a socket's path is short however long the temporary directory's is", () => {
    const long = join(scratch, "x".repeat(90));
    const paths = socketPaths(data.dataDir, {}, long);
    expect(paths.length).toBeGreaterThan(0);
    for (const path of paths) expect(Buffer.byteLength(path)).toBeLessThanOrEqual(103);
  });

  test("lies in XDG_RUNTIME_DIR where that is private, else in the temporary directory", () => {
    const runtime = join(scratch, "runtime");
    const chosen = (value: string): string =>
      makeSocketPath(data.dataDir, { XDG_RUNTIME_DIR: value }, scratch);
    expect(dirname(dirname(chosen(runtime))), "it is not there").toBe(first());
    mkdirSync(runtime, { mode: 0o700 });
    const path = chosen(runtime);
    expect(dirname(dirname(path))).toBe(join(runtime, "ujb"));
    for (const own of [dirname(path), dirname(dirname(path))]) expect(statSync(own).mode & 0o777).toBe(0o700);
    expect(dirname(dirname(chosen("runtime"))), "it is relative").toBe(first());
    symlinkSync(runtime, join(scratch, "link"));
    expect(dirname(dirname(chosen(join(scratch, "link")))), "it is a link").toBe(first());
    chmodSync(runtime, 0o750);
    expect(dirname(dirname(chosen(runtime))), "it is open to others").toBe(first());
  });

  const TAKEN: Record<string, (name: string) => void> = {
    "another user's (needs root to make one)": (name) => {
      mkdirSync(name, { mode: 0o700 });
      chownSync(name, nobody, nobody);
    },
    "a link": (name) => {
      const real = mkdtempSync(join(tmpdir(), "ujb-scratch-"));
      symlinkSync(real, name);
    },
    "open to others": (name) => {
      mkdirSync(name);
      chmodSync(name, 0o777);
    },
    "a file": (name) => writeFileSync(name, ""),
  };
  for (const [what, take] of Object.entries(TAKEN)) {
    test.skipIf(!isRoot && what.includes("root"))(`steps around one that is ${what}`, () => {
      take(first());
      const path = makeSocketPath(data.dataDir, {}, scratch);
      expect(dirname(dirname(path))).toBe(`${first()}-1`);
      // The directory for this data, in one that is ours.
      rmSync(dirname(path), { recursive: true });
      take(dirname(path));
      expect(dirname(dirname(makeSocketPath(data.dataDir, {}, scratch)))).toBe(`${first()}-2`);
      if (what === "a link") {
        for (const link of [first(), dirname(path)]) {
          expect(readdirSync(link)).toEqual([]);
          rmSync(realpathSync(link), { recursive: true });
        }
      }
    });
  }

  test("is refused with what to do where every name is taken", () => {
    writeFileSync(first(), "");
    for (let n = 1; n <= 9; n += 1) writeFileSync(`${first()}-${n}`, "");
    expect(() => makeSocketPath(data.dataDir, {}, scratch)).toThrow(
      /is not a directory\. Remove it, or set XDG_RUNTIME_DIR or TMPDIR to a directory that is yours alone/,
    );
  });

  test.runIf(isRoot)(
    "an impostor at the path of a server that ran there is never spoken to (needs root to make one)",
    async () => {
      const runtime = join(scratch, "runtime");
      mkdirSync(runtime, { mode: 0o700 });
      const here = { ...options, env: { ...process.env, XDG_RUNTIME_DIR: runtime } };
      const server = await ensureEmbeddedRedis(here);
      const { path } = server.address as { path: string };
      expect(path.startsWith(runtime)).toBe(true);
      // As a cleaner of temporary files and another user would do it.
      rmSync(join(runtime, "ujb"), { recursive: true });
      mkdirSync(dirname(path), { recursive: true });
      let visits = 0;
      const impostor = createServer((socket) => {
        visits += 1;
        socket.on("data", () => socket.write("+PONG\r\n")).on("error", silent);
      }).listen(path);
      await once(impostor, "listening");
      for (const name of [dirname(dirname(path)), dirname(path), path]) chownSync(name, nobody, nobody);

      const next = await ensureEmbeddedRedis(here);
      expect(next.started).toBe(true);
      expect(next.address).not.toEqual(server.address);
      expect(identify(server.pid), "never two on one file").toBeUndefined();
      expect(visits).toBe(0);
      impostor.close();
    },
  );

  test("a server whose endpoint file is lost is found by a process with another XDG_RUNTIME_DIR", async () => {
    const runtime = join(scratch, "runtime");
    mkdirSync(runtime, { mode: 0o700 });
    const server = await ensureEmbeddedRedis({
      ...options,
      env: { ...process.env, XDG_RUNTIME_DIR: runtime },
    });
    rmSync(join(data.dataDir, "redis", "endpoint.json"));
    expect(await ensureEmbeddedRedis(options)).toEqual({ ...server, started: false });
  });
});

describe("the tests' own Redis", () => {
  test("a kill loses nothing acknowledged; flush empties; stop leaves nothing", async () => {
    const redis = await startTestRedis();
    const client = connect(redis.connection);
    await client.set("operation", "executed");
    await redis.kill();
    await redis.restart();
    expect(await client.get("operation")).toBe("executed");
    await redis.flush();
    expect(await client.dbsize()).toBe(0);
    client.disconnect();
    await redis.stop();
    await redis.stop();
    if ("path" in redis.connection) expect(existsSync(dirname(redis.connection.path))).toBe(false);
  });
});

function toRecord(pairs: unknown): Record<string, string> {
  if (!Array.isArray(pairs)) return pairs as Record<string, string>;
  return Object.fromEntries(
    pairs.flatMap((key, index) => (index % 2 === 0 ? [[key, pairs[index + 1]]] : [])),
  );
}

async function deadProcess(): Promise<number> {
  const child = spawn(process.execPath, ["--version"], { stdio: "ignore" });
  await once(child, "exit");
  return child.pid as number;
}

function claimsIn(dataDir: string): string[] {
  return readdirSync(join(dataDir, "redis")).filter((name) => name.startsWith("starting"));
}

/** Every server of this data directory, by the system's own account: a server's title shows its socket. */
async function serversIn(dataDir: string): Promise<string[]> {
  const { address } = JSON.parse(readFileSync(join(dataDir, "redis", "endpoint.json"), "utf8"));
  const { output } = await runCommand("ps", ["-eo", "args"], { env: process.env, timeoutMs: 5_000 });
  return output.split("\n").filter((line) => line.includes(address.path));
}

function onPath(name: string): boolean {
  return findProgram([name], searchDirectories(process.env, process.platform)) !== undefined;
}

/** A directory for PATH with these programs of the system, and no Redis. */
function programs(...names: string[]): string {
  const directory = mkdtempSync(join(scratch, "bin-"));
  for (const name of names) {
    const file = findProgram([name], searchDirectories(process.env, process.platform));
    if (file) symlinkSync(file, join(directory, name));
  }
  return directory;
}

function writeProgram(file: string, script: string): void {
  rmSync(file, { force: true });
  writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
}

interface Cached {
  tree: string;
  file: string;
  /** Where no Redis is on PATH, and apt has nothing. */
  finding: Pick<EmbeddedRedisOptions, "cacheDir" | "env">;
  find(): Promise<RedisBinary>;
}

/** A cache of the test's own, with a Redis as the distribution's package would have left it there. */
async function cached(): Promise<Cached> {
  const cache = join(scratch, "cache");
  const tree = cachedTree(cache);
  const file = join(tree, "usr", "bin", "redis-server");
  await plantRedis(file);
  seal(tree, [{ name: "redis-server_5%3a7.0.15-1_amd64.deb", sha256: "00" }]);
  const path = programs("dpkg", "dpkg-deb", "tar", "rm", "sh", "cp");
  writeProgram(join(path, "apt-get"), "exit 100");
  const finding = { cacheDir: cache, env: { ...process.env, PATH: path } };
  return { tree, file, finding, find: () => findRedisBinary({ ...finding, say: silent }) };
}

/** A Debian package with this machine's Redis in it. */
async function packedRedis(): Promise<string> {
  const tree = join(scratch, "package");
  await plantRedis(join(tree, "usr", "bin", "redis-server"));
  mkdirSync(join(tree, "DEBIAN"), { mode: 0o755 });
  writeFileSync(
    join(tree, "DEBIAN", "control"),
    "Package: redis-server\nVersion: 7\nArchitecture: all\nMaintainer: test <test@localhost>\nDescription: test\n",
  );
  const file = join(scratch, "redis-server_7_all.deb");
  const built = await runCommand("dpkg-deb", ["--root-owner-group", "-Znone", "--build", tree, file], {
    env: process.env,
    timeoutMs: 60_000,
  });
  expect(built).toMatchObject({ code: 0 });
  return file;
}
