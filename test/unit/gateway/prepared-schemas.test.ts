import { expect, test } from "vitest";
import { createPreparedSchemas } from "../../../src/gateway/tools/prepared-schemas.js";
import { completeTool, type Tool } from "../../../src/shared/tools/tool.js";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const TOOLS = ["a", "b", "c"].map((name) => completeTool({ name, description: "" }));

function prepared(tools: () => Promise<readonly Tool[]>) {
  const names: string[] = [];
  let announce: () => void = () => undefined;
  let isOpen = true;
  let heard: () => void = () => undefined;
  const { close } = createPreparedSchemas({
    tools,
    schema: {
      async prepare({ name }) {
        names.push(name);
        heard();
      },
    },
    notifier: {
      on(_channel, listener) {
        announce = () => listener("editor");
        return () => {
          isOpen = false;
        };
      },
    },
    log: SILENT,
  });
  const until = (count: number): Promise<void> =>
    new Promise((resolve) => {
      heard = () => names.length >= count && resolve();
      heard();
    });
  return { names, close, announce: () => announce(), isOpen: () => isOpen, until };
}

test("every known tool's schema is compiled at the start, and again after a change", async () => {
  const { names, announce, until, close, isOpen } = prepared(async () => TOOLS);
  await until(3);
  announce();
  await until(6);
  expect(names).toEqual(["a", "b", "c", "a", "b", "c"]);
  await close();
  expect(isOpen()).toBe(false);
});

test("the end comes between two schemas", async () => {
  const { names, until, close } = prepared(async () => TOOLS);
  await until(1);
  await close();
  expect(names.length).toBeLessThan(3);
});

test("tools that cannot be read now are read after the next change", async () => {
  let isAway = true;
  const { announce, until, close } = prepared(async () => {
    if (isAway) throw new Error("Redis is away");
    return TOOLS;
  });
  await Promise.resolve();
  isAway = false;
  announce();
  await until(3);
  await close();
});
