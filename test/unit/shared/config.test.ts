import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CONFIG, readConfig } from "../../../src/shared/config.js";
import { CONFIG_FILE, FILE_SETTINGS, keyOf } from "../../../src/shared/setting-names.js";

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
  const page = new URL("../../../docs/reference/configuration.md", import.meta.url);
  const written = readFileSync(page, "utf8");
  const drawn = written.replace(/(<!-- config -->\n)[\s\S]*?(\n<!-- \/config -->)/, `$1${table()}$2`);
  if (process.env.UPDATE_GOLDEN) writeFileSync(page, drawn);

  test("has every variable with its key and default, and no other", () => {
    expect(process.env.UPDATE_GOLDEN ? drawn : written).toBe(drawn);
  });
});

test("a variable has one key, and a key is a section's or stands alone", () => {
  const keys = FILE_SETTINGS.map(keyOf);
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys.filter((key) => !/^[a-z_]+(\.[a-z_]+)?$/.test(key))).toEqual([]);
  const sections = new Set(keys.flatMap((key) => (key.includes(".") ? [key.split(".")[0]] : [])));
  expect(keys.filter((key) => sections.has(key))).toEqual([]);
});

function table(): string {
  const standards = readConfig({});
  const rows = (Object.keys(CONFIG) as (keyof typeof CONFIG)[]).map((name) => {
    const key = name === CONFIG_FILE ? "" : `\`${keyOf(name)}\``;
    const standard = standards[name];
    const shown = standard === undefined || typeof standard === "object" ? "" : `\`${standard}\``;
    return `| \`${name}\` | ${key} | ${shown} | ${CONFIG[name].description} |`;
  });
  return ["| variable | key in a file | default | meaning |", "|---|---|---|---|", ...rows].join("\n");
}
