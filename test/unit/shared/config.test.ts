import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CONFIG, readConfig } from "../../../src/shared/config.js";

describe("the configuration", () => {
  test("nothing set means the defaults, frozen", () => {
    const config = readConfig({});
    expect(config).toMatchObject({ UNITY_BROKER_HOST: "127.0.0.1", UNITY_BROKER_RETENTION_HOURS: 24 });
    expect(config.REDIS_URL).toBeUndefined();
    expect(Object.isFrozen(config)).toBe(true);
  });

  test("texts become numbers; empty means not set; other variables are left alone", () => {
    const config = readConfig({
      UNITY_BROKER_PORT: "0",
      UNITY_BROKER_RETENTION_HOURS: "0.5",
      REDIS_URL: "",
      PATH: "x",
    });
    expect(config).toMatchObject({ UNITY_BROKER_PORT: 0, UNITY_BROKER_RETENTION_HOURS: 0.5 });
    expect(config.REDIS_URL).toBeUndefined();
    expect(config).not.toHaveProperty("PATH");
  });

  test("execution classes are read by tool", () => {
    const { UNITY_BROKER_EXECUTION_CLASSES: classes } = readConfig({
      UNITY_BROKER_EXECUTION_CLASSES: "bake=long, echo = quick,",
    });
    expect(classes).toEqual({ bake: "long", echo: "quick" });
    expect(readConfig({}).UNITY_BROKER_EXECUTION_CLASSES).toEqual({});
  });

  test.each([
    ["UNITY_BROKER_EXECUTION_CLASSES", "bake=hours"],
    ["UNITY_BROKER_EXECUTION_CLASSES", "bake"],
    ["UNITY_BROKER_RESOURCES", "gpu"],
    ["UNITY_BROKER_RESOURCES", "gpu=0"],
    ["UNITY_BROKER_RESOURCES", "project=my-game=1"],
    ["UNITY_BROKER_CANCEL_OVERDUE", "perhaps"],
    ["UNITY_BROKER_PROMPTS", "prompts"],
    ["UNITY_BROKER_PROMPTS", "~/prompts"],
    ["UNITY_BROKER_PORT", "70000"],
    ["UNITY_BROKER_PORT", "http"],
    ["UNITY_BROKER_RETENTION_HOURS", "0"],
    ["UNITY_BROKER_LEASE_MS", "-1"],
    ["UNITY_BROKER_LEASE_MS", "1.5"],
    ["UNITY_BROKER_LOG_LEVEL", "loud"],
  ])("%s=%s is refused by name", (name, value) => {
    expect(() => readConfig({ [name]: value })).toThrow(name);
  });
});

describe("the table of docs/reference/configuration.md", () => {
  const rows = rowsOf(
    readFileSync(new URL("../../../docs/reference/configuration.md", import.meta.url), "utf8"),
  );

  test("has every variable, and no other", () => {
    expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(CONFIG).sort());
  });

  test.each(Object.keys(CONFIG) as (keyof typeof CONFIG)[])(
    "describes %s and its default as they are",
    (name) => {
      const row = rows.find((entry) => entry.name === name);
      const standard = readConfig({})[name];
      expect(row?.description).toBe(CONFIG[name].description);
      if (typeof standard !== "object" && standard !== undefined)
        expect(row?.standard.replaceAll("`", "")).toBe(String(standard));
    },
  );
});

/** The rows between the two marks: `` | `NAME` | default | description | ``. */
function rowsOf(markdown: string): { name: string; standard: string; description: string }[] {
  const table = /<!-- config -->([\s\S]*?)<!-- \/config -->/.exec(markdown)?.[1] ?? "";
  return [...table.matchAll(/^\| `(\w+)` \|([^|]*)\|(.*)\|$/gm)].map(
    ([, name = "", standard = "", text = ""]) => ({
      name,
      standard: standard.trim(),
      description: text.trim(),
    }),
  );
}
