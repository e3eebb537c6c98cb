/** The plugin of Claude Code and its marketplace: their forms, and that each finds the next. */
import { existsSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { isOurs } from "../../../src/cli/clients/entry.js";
import { jsonOf, textOf } from "../../harness/packaging/files.js";
import { Marketplace, Plugin, PluginServers, SkillHead } from "../../harness/packaging/formats.js";

const PROJECT = resolve(import.meta.dirname, "../../..");
const marketplace = Marketplace.parse(jsonOf(".claude-plugin/marketplace.json"));

describe("the marketplace", () => {
  test("finds the plugin, which calls itself the same", () => {
    const [listed, ...others] = marketplace.plugins;
    expect(others).toEqual([]);
    const plugin = Plugin.parse(jsonOf(`${listed?.source}/.claude-plugin/plugin.json`));
    expect({ name: plugin.name, description: plugin.description, license: plugin.license }).toEqual({
      name: listed?.name,
      description: listed?.description,
      license: listed?.license,
    });
  });
});

describe("the plugin", () => {
  const folder = marketplace.plugins[0]?.source ?? "";

  test("has one server: the broker that the user installed, never a package by its name", () => {
    const { mcpServers } = PluginServers.parse(jsonOf(`${folder}/.mcp.json`));
    expect(Object.keys(mcpServers)).toEqual(["unity"]);
    expect(isOurs(mcpServers.unity, [])).toBe(true);
    const { bin } = jsonOf<{ bin: Record<string, string> }>("package.json");
    expect(Object.keys(bin)).toContain(mcpServers.unity?.command);
  });

  test("has a skill where Claude Code looks for one, named as its folder", () => {
    const skill = textOf(`${folder}/skills/unity-job-broker/SKILL.md`);
    const [, head = ""] = /^---\n(.*?)\n---\n/s.exec(skill) ?? [];
    expect(SkillHead.parse(parseYaml(head)).name).toBe("unity-job-broker");
  });

  test("has its parts beside .claude-plugin, not in it", () => {
    expect(statSync(join(PROJECT, folder, "skills")).isDirectory()).toBe(true);
    expect(existsSync(join(PROJECT, folder, ".claude-plugin", "skills"))).toBe(false);
  });
});
