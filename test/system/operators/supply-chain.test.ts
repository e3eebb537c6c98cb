/** What comes in with an installation: every package by its hash, the list of them, and how a release is made. */
import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { pathOf, read } from "../../harness/redis/compose-file.js";

interface Locked {
  integrity?: string;
  link?: boolean;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  resolved?: string;
}

describe("the lock file", () => {
  const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, Locked> };
  const locked = Object.entries(packages).filter(([path, { link }]) => path !== "" && !link);

  test("has the hash of every package that this system installs", () => {
    expect(locked.length).toBeGreaterThan(100);
    const without = locked.filter(([, { integrity }]) => !integrity?.startsWith("sha512-"));
    // Builds for other systems, which the registry that made this lock file did not have. A release has none of them:
    // where the whole registry is, delete node_modules and these entries and run `npm install --package-lock-only`.
    const isForeign = ([path, { optional, os = [], cpu = [] }]: [string, Locked]): boolean =>
      optional === true && !(os.includes("linux") && cpu.includes("x64") && !/musl/.test(path));
    const isRelease = process.env.UNITY_BROKER_RELEASE !== undefined;
    const bare = without.filter((entry) => isRelease || !isForeign(entry)).map(([path]) => path);
    expect(bare).toEqual([]);
  });

  test("takes nothing from elsewhere than the registry", () => {
    const elsewhere = locked.filter(
      ([, { resolved }]) => resolved !== undefined && !resolved.startsWith("https://registry.npmjs.org/"),
    );
    expect(elsewhere.map(([path]) => path)).toEqual([]);
  });
});

test("npm run sbom lists what an installation brings, and nothing of the tests", () => {
  const { stdout, status } = spawnSync("npm", ["run", "--silent", "sbom"], {
    cwd: pathOf("."),
    encoding: "utf8",
    shell: process.platform === "win32",
    maxBuffer: 64 * 1024 * 1024,
  });
  expect(status).toBe(0);
  const { bomFormat, components } = JSON.parse(stdout) as {
    bomFormat: string;
    components: { name: string; hashes?: unknown[] }[];
  };
  expect(bomFormat).toBe("CycloneDX");
  const names = components.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["bullmq", "ioredis", "fastify"]));
  expect(names).not.toContain("vitest");
});

describe("the release workflow", () => {
  interface Job {
    needs?: string | string[];
    environment?: string;
    permissions: Record<string, string>;
    steps: { uses?: string; run?: string; env?: Record<string, string>; with?: { path?: string } }[];
  }
  const { on, permissions, jobs } = parse(read(".github/workflows/release.yml")) as {
    on: object;
    permissions: object;
    jobs: Record<string, Job>;
  };

  test("starts by a tag alone, and publishes what was checked, with provenance", () => {
    expect(Object.keys(on)).toEqual(["push"]);
    expect(permissions).toEqual({ contents: "read" });
    const publish = jobs.publish as Job;
    expect(publish.permissions).toEqual({ contents: "read", "id-token": "write" });
    const runs = publish.steps.map(({ run = "" }) => run);
    expect(runs.at(-1)).toContain("npm publish");
    expect(runs.at(-1)).toContain("--provenance");
    const before = runs.slice(0, -1).join("\n");
    for (const step of [
      "npm ci --ignore-scripts",
      "npm run sbom",
      "npm run check",
      "npm run --silent bundle",
    ])
      expect(before).toContain(step);
    expect(publish.steps.some(({ env }) => env?.UNITY_BROKER_RELEASE === "1")).toBe(true);
  });

  test("makes the release of what was checked, and tells the registry when both are there", () => {
    expect(Object.keys(jobs)).toEqual(["publish", "release", "registry"]);
    const { publish, release, registry } = jobs as { publish: Job; release: Job; registry: Job };
    expect(release.needs).toBe("publish");
    expect(registry.needs).toEqual(["publish", "release"]);
    // Each job may do what it is there for, and nothing else.
    expect(release.permissions).toEqual({ contents: "write" });
    expect(registry.permissions).toEqual({});
    // Neither builds anything: both take what the first one has kept.
    for (const { steps } of [release, registry])
      expect(steps.map(({ uses }) => uses).filter(Boolean)).toEqual(["actions/download-artifact@v4"]);
    const kept = publish.steps.flatMap(({ with: given }) => given?.path?.trim().split(/\s+/) ?? []);
    expect(kept).toEqual(["sbom.cdx.json", "unity-job-broker.mcpb", "server.json"]);
    const said = ({ steps }: Job): string => steps.map(({ run = "" }) => run).join("\n");
    expect(said(release)).toMatch(/gh release create .* unity-job-broker\.mcpb sbom\.cdx\.json/);
    // What is downloaded is compared with a hash before it runs.
    expect(said(registry)).toMatch(
      /curl [\s\S]*sha256sum --check[\s\S]*tar [\s\S]*mcp-publisher publish server\.json/,
    );
  });

  test("uses no action of anybody but GitHub, each by a version", () => {
    const used = Object.values(jobs).flatMap(({ steps }) => steps.flatMap(({ uses }) => uses ?? []));
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^actions\/[\w-]+@(v\d+|[0-9a-f]{40})$/);
  });
});
