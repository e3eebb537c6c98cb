/** One version, in every file that says one. */
import { expect, test } from "vitest";
import { jsonOf } from "../../harness/packaging/files.js";

const { version } = jsonOf<{ version: string }>("package.json");

/** Each with the paths at which it says a version. */
const FILES: Record<string, string[]> = {
  "package-lock.json": ["version", "packages..version"],
  "unity-plugin/package.json": ["version"],
  "packaging/registry/server.json": ["version", "packages.0.version"],
  "packaging/mcpb/manifest.json": ["version"],
  "packaging/claude-code/.claude-plugin/plugin.json": ["version"],
  ".claude-plugin/marketplace.json": ["plugins.0.version"],
};

test.each(Object.entries(FILES))("%s has the version of package.json", (file, paths) => {
  for (const path of paths) {
    const said = path.split(".").reduce<unknown>((value, key) => (value as never)[key], jsonOf(file));
    expect(said, path).toBe(version);
  }
});
