/** The threads behind large documents: what is kept, what is ended, what goes on meanwhile. Needs the built files. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import {
  createDocuments,
  type DocumentSource,
  type Documents,
  type DocumentsOptions,
} from "../../../src/documents/documents.js";
import { type StartThread, startThread } from "../../../src/documents/thread-start.js";

/** Longer than any healthy request of these tests on any machine; endless ones get a limit of their own. */
const AMPLE = 120_000;
const ENDLESS = "def f: f; f";

const texts: Record<string, string> = { a: '{"items":[1,2,3]}', b: '{"items":[]}', c: '{"items":[9]}' };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

interface Stage {
  documents: Documents;
  loads: string[];
  started: Worker[];
  /** Threads that have not ended yet. */
  living: Set<Worker>;
}

let stages: Stage[] = [];
afterEach(async () => {
  for (const { documents, living } of stages.splice(0)) {
    await documents.close();
    expect(living.size, "threads left after close").toBe(0);
  }
  stages = [];
});

function stage(
  options: DocumentsOptions = {},
  load?: DocumentSource["load"],
  start: StartThread = startThread,
): Stage {
  const [loads, started, living]: [string[], Worker[], Set<Worker>] = [[], [], new Set()];
  const documents = createDocuments(
    {
      load: async (key) => {
        loads.push(key);
        if (load !== undefined) return load(key);
        const text = texts[key];
        return text === undefined ? undefined : [bytesOf(text)];
      },
      start: (limits) => {
        const worker = start(limits);
        started.push(worker);
        living.add(worker);
        worker.once("exit", () => living.delete(worker));
        return worker;
      },
    },
    { threads: 1, timeoutMs: AMPLE, ...options },
  );
  stages.push({ documents, loads, started, living });
  return { documents, loads, started, living };
}

const exitOf = (worker: Worker | undefined): Promise<unknown> =>
  new Promise((resolve) => worker?.once("exit", resolve));
const kindOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "answered",
    (error: { kind: unknown }) => error.kind,
  );

describe("a document", () => {
  test("is loaded once for any number of requests", async () => {
    const { documents, loads } = stage();
    await documents.filter("a", ".items");
    await documents.filter("a", ".items[0]");
    expect(await documents.read("a", { kind: "preview" })).toMatchObject({ bytes: 17, list: "items" });
    expect(await documents.read("a", { kind: "preview" })).toMatchObject({ bytes: 17, list: "items" });
    expect(loads).toEqual(["a"]);
  });

  test("may be plain or gzip, in pieces, and pieces of larger buffers stay whole", async () => {
    const zipped = gzipSync('{"n":"木"}');
    const shared = Buffer.concat([Buffer.from("xx"), zipped]);
    const { documents } = stage({}, async (key) =>
      key === "zipped"
        ? [shared.subarray(2, 9), shared.subarray(9)]
        : [bytesOf('{"n":"'), bytesOf("木").subarray(0, 1), bytesOf("木").subarray(1), bytesOf('"}')],
    );
    expect((await documents.filter("zipped", ".n")).json.toString()).toBe('"木"');
    expect((await documents.filter("plain", ".n")).json.toString()).toBe('"木"');
    expect(shared.length).toBe(zipped.length + 2);
  });

  test("leaves when others need its place, the least recently used one first", async () => {
    const { documents, loads } = stage({ cacheBytes: 34 });
    for (const key of ["a", "b", "a", "c", "a", "b"]) await documents.filter(key, ".");
    expect(loads).toEqual(["a", "b", "c", "b"]);
  });

  test("larger than the cache is kept until another one comes", async () => {
    const { documents, loads } = stage({ cacheBytes: 5 });
    for (const key of ["a", "a", "b", "a"]) await documents.filter(key, ".");
    expect(loads).toEqual(["a", "b", "a"]);
  });

  test("that is gone, cannot be loaded or is none is told apart", async () => {
    const { documents } = stage({}, async (key) => {
      if (key === "unreachable") throw new Error("no connection");
      if (key === "broken gzip") return [Uint8Array.of(0x1f, 0x8b, 1, 2, 3)];
      return key === "no json" ? [bytesOf('{"a":')] : undefined;
    });
    expect(await kindOf(documents.filter("gone", "."))).toBe("missing");
    expect(await kindOf(documents.filter("unreachable", "."))).toBe("load");
    expect(await kindOf(documents.filter("broken gzip", "."))).toBe("malformed");
    expect(await kindOf(documents.read("no json", { kind: "preview" }))).toBe("malformed");
  });
});

describe("an endless filter", () => {
  test.each([ENDLESS, "last(repeat(1))", "last(range(infinite))", "[limit(1; repeat(empty))]"])(
    "%s is ended, and its thread answers again",
    async (endless) => {
      const { documents, loads } = stage();
      await documents.filter("a", ".");
      expect(await kindOf(documents.filter("a", endless, { timeoutMs: 300 }))).toBe("timeout");
      expect((await documents.filter("a", ".items[2]")).json.toString()).toBe("3");
      expect(loads, "the new thread holds nothing").toEqual(["a", "a"]);
    },
  );

  test("does not keep others from their answers where there is a second thread", async () => {
    const { documents } = stage({ threads: 2 });
    await documents.filter("a", ".");
    const left = new AbortController();
    const endless = kindOf(documents.filter("a", ENDLESS, { signal: left.signal }));
    expect((await documents.filter("a", ".items[0]")).json.toString()).toBe("1");
    expect((await documents.filter("b", ".items")).json.toString()).toBe("[]");
    left.abort();
    expect(await endless).toBe("aborted");
  });

  test("takes nobody with it who waits for the same thread", async () => {
    const { documents } = stage();
    await documents.filter("a", ".");
    const endless = kindOf(documents.filter("a", ENDLESS, { timeoutMs: 300 }));
    const behind = [documents.filter("a", ".items[0]"), documents.filter("b", ".items")];
    expect(await endless).toBe("timeout");
    expect((await Promise.all(behind)).map(({ json }) => json.toString())).toEqual(["1", "[]"]);
  });
});

describe("caps", () => {
  test("output without end is cut off at its cap, long before its time", async () => {
    const { documents } = stage({ maxOutputBytes: 1_000 });
    expect(await kindOf(documents.filter("a", "repeat(1)"))).toBe("too_large");
    expect(await kindOf(documents.filter("a", '"x" * 999'))).toBe("too_large");
    expect((await documents.filter("a", '"x" * 997')).json.length).toBe(999);
    expect((await documents.filter("a", '"x" * 2000', { maxOutputBytes: 5_000 })).json.length).toBe(2_002);
  });

  test("a filter that collects without end runs out of jq's memory, not of ours", async () => {
    const { documents, started } = stage();
    expect(await kindOf(documents.filter("a", '[repeat("x" * 100000)]'))).toBe("memory");
    expect((await documents.filter("a", ".items[0]")).json.toString()).toBe("1");
    expect(started.length, "the thread survives it").toBe(1);
  });

  test.each(["[range(infinite)]", "[repeat(1)]"])("%s ends by its time or its memory", async (endless) => {
    const { documents } = stage();
    const kind = await kindOf(documents.filter("a", endless, { timeoutMs: 5_000 }));
    expect(["timeout", "memory"]).toContain(kind);
    expect((await documents.filter("a", ".items[0]")).json.toString()).toBe("1");
  });

  test("a document that grows without measure when unzipped is refused", async () => {
    const bomb = gzipSync(Buffer.alloc(2_000_000, " "));
    const { documents } = stage({ maxDocumentBytes: 1_000_000 }, async () => [Uint8Array.from(bomb)]);
    expect(await kindOf(documents.filter("bomb", "."))).toBe("too_large");
  });

  test("a document larger than a thread's heap is read in part: it is never parsed", async () => {
    const many = Buffer.from(`[${"{},".repeat(16_000_000)}1]`);
    const { documents, started } = stage({ maxThreadHeapMb: 16 }, async () => [Uint8Array.from(many)]);
    expect(await documents.read("many", { kind: "preview" })).toMatchObject({ length: 16_000_001 });
    const request = { kind: "project", offset: 15_999_999 } as const;
    expect(Buffer.from((await documents.read("many", request)).json).toString()).toBe("[{},1]");
    expect(started.length, "the thread survives it").toBe(1);
  });

  test("too many that wait are refused at once", async () => {
    const { documents } = stage({ maxWaiting: 1 });
    await documents.filter("a", ".");
    const running = kindOf(documents.filter("a", ENDLESS, { timeoutMs: 300 }));
    const waiting = documents.filter("a", ".items[0]");
    expect(await kindOf(documents.filter("a", "."))).toBe("busy");
    expect(await running).toBe("timeout");
    expect((await waiting).json.toString()).toBe("1");
  });
});

describe("a thread", () => {
  test("is started by the first request", async () => {
    const { documents, started } = stage({ threads: 2 });
    expect(started.length).toBe(0);
    await documents.filter("a", ".");
    await documents.filter("b", ".");
    expect(started.length, "one that is free is enough").toBe(1);
  });

  test("that holds the document is preferred to another free one", async () => {
    const { documents, loads } = stage({ threads: 2 });
    await Promise.all([documents.filter("a", "."), documents.filter("b", ".")]);
    for (const key of ["b", "b", "a", "a"]) await documents.filter(key, ".items");
    expect(loads.sort()).toEqual(["a", "b"]);
  });

  test("without work ends, and the next request starts another", async () => {
    const { documents, started } = stage({ idleMs: 0 });
    await documents.filter("a", ".");
    await exitOf(started[0]);
    expect((await documents.filter("a", ".items[1]")).json.toString()).toBe("2");
    expect(started.length).toBe(2);
  });

  test.each([
    ["fills its heap", "memory", "const a = []; for (;;) a.push({ a: [1] });"],
    ["throws", "crashed", "throw new Error('defect');"],
    ["ends itself", "crashed", "process.exit(0);"],
  ])("that %s fails its request only", async (_name, kind, program) => {
    let broken = true;
    const { documents } = stage({}, undefined, (limits) => {
      if (!broken) return startThread(limits);
      broken = false;
      return new Worker(program, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } });
    });
    const first = kindOf(documents.filter("a", "."));
    const second = documents.filter("a", ".items[0]");
    expect(await first).toBe(kind);
    expect((await second).json.toString()).toBe("1");
  });
});

describe("the end", () => {
  test("of a caller: who waits is taken out of the line, and is not loaded for", async () => {
    const { documents, loads } = stage();
    await documents.filter("a", ".");
    const running = kindOf(documents.filter("a", ENDLESS, { timeoutMs: 300 }));
    const left = new AbortController();
    const waiting = kindOf(documents.filter("b", ".", { signal: left.signal }));
    left.abort();
    expect(await waiting).toBe("aborted");
    expect(await kindOf(documents.filter("c", ".", { signal: left.signal }))).toBe("aborted");
    expect(await running).toBe("timeout");
    expect(loads).toEqual(["a"]);
  });

  test("of the engine: what runs, waits and comes is refused, and no thread is left", async () => {
    const { documents, living } = stage();
    await documents.filter("a", ".");
    const running = kindOf(documents.filter("a", ENDLESS));
    const waiting = kindOf(documents.filter("b", "."));
    await documents.close();
    expect(living.size).toBe(0);
    expect(await Promise.all([running, waiting])).toEqual(["closed", "closed"]);
    expect(await kindOf(documents.filter("a", "."))).toBe("closed");
  });

  test("of the process is not kept waiting by threads that have nothing to do", async () => {
    const engine = new URL("../../../dist/documents/documents.js", import.meta.url).href;
    const program = `
      const { createDocuments } = await import(${JSON.stringify(engine)});
      const documents = createDocuments({ load: async () => [Uint8Array.of(0x37)] }, { idleMs: ${AMPLE} });
      console.log((await documents.filter("seven", ". + 1")).json.toString());`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout.on("data", (bytes) => {
      said += bytes;
    });
    const [code] = (await once(child, "close", { signal: AbortSignal.timeout(AMPLE / 2) })) as [number];
    expect([code, said.trim()]).toEqual([0, "8"]);
  });

  test("of the engine while a document is on its way starts no thread", async () => {
    let arrive: (chunks: Uint8Array[]) => void = () => undefined;
    const { documents, started } = stage({}, () => new Promise((resolve) => (arrive = resolve)));
    const request = kindOf(documents.filter("a", "."));
    await documents.close();
    arrive([bytesOf("1")]);
    expect(await request).toBe("closed");
    expect(started.length).toBe(0);
  });
});
