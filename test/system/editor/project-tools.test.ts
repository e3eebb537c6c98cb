/** The tools of the C# bridge that change the project. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { describe, expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";
import { until } from "../../harness/processes/processes.js";

const PROFILE = "Assets/Settings/Build Profiles/Demo.asset";
const WAIT = { timeout: 40 };

/** A call, and its status or the type of its error. */
type Play = [tool: string, args: Record<string, unknown>, end: string];

const ASSETS: Play[] = [
  ["find-assets", { SearchFilter: "stone" }, "completed"],
  ["find-assets", { Type: "Material", MaxResults: 1 }, "completed"],
  ["find-assets", { Path: "Assets/Textures/Stone.png" }, "completed"],
  ["find-assets", { Path: "Assets/Textures/Rock.png" }, "asset_not_found"],
  ["find-assets", { Folder: "../Other" }, "invalid_arguments"],
  ["manage-assets", { Action: "CreateFolder", Path: "Assets/Art/Rocks" }, "completed"],
  ["manage-assets", { Action: "CreateFolder", Path: "Assets/Art" }, "completed"],
  [
    "manage-assets",
    { Action: "Move", Path: "Assets/Materials/Stone.mat", Destination: "Assets/Art/Rocks" },
    "completed",
  ],
  [
    "manage-assets",
    { Action: "Copy", Path: "Assets/Art/Rocks/Stone.mat", Destination: "Assets/Art/Red.mat" },
    "completed",
  ],
  ["manage-assets", { Action: "CreateMaterial", Path: "Assets/Art/Red.mat" }, "asset_exists"],
  ["manage-assets", { Action: "CreateMaterial", Path: "Assets/Art/Red.mat", Overwrite: true }, "completed"],
  ["manage-assets", { Action: "CreatePrefab", Path: "Assets/Art/Root.prefab", Target: "Root0" }, "completed"],
  ["manage-assets", { Action: "Delete", Path: "Assets/Art/Rocks" }, "completed"],
  ["manage-assets", { Action: "Delete", Path: "Assets/Art/Rocks/Stone.mat" }, "asset_not_found"],
  ["manage-assets", { Action: "Delete", Path: "Packages/com.unity.ugui/package.json" }, "invalid_arguments"],
  ["manage-assets", { Action: "Move", Path: "Assets/Scripts", Destination: "Assets/Code" }, "completed"],
  ["manage-assets", { Action: "Reimport", Path: "Assets/Code" }, "completed"],
  ["manage-assets", { Action: "Refresh" }, "completed"],
  ["find-assets", { Folder: "Assets/Art" }, "completed"],
];

const PACKAGES: Play[] = [
  ["list-packages", {}, "completed"],
  ["manage-packages", { Action: "Add", Package: "com.unity.cinemachine@3.1.2" }, "completed"],
  ["manage-packages", { Action: "Add", Package: "com.unity.ugui" }, "completed"],
  ["manage-packages", { Action: "Add", Package: "https://git.example/rocks.git" }, "completed"],
  ["manage-packages", { Action: "Add", Package: "com.studio.missing" }, "package_failed"],
  ["manage-packages", { Action: "Add", Package: "com.unity.cinemachine@newest" }, "invalid_arguments"],
  ["manage-packages", { Action: "Update", Package: "com.unity.cinemachine@3.1.3" }, "completed"],
  ["manage-packages", { Action: "Remove", Package: "com.unity.ext.nunit" }, "package_not_direct"],
  ["manage-packages", { Action: "Remove", Package: "com.unity.test-framework" }, "completed"],
  ["manage-packages", { Action: "Remove", Package: "com.unity.timeline" }, "package_not_installed"],
  ["list-packages", { IncludeIndirect: true }, "completed"],
  ["set-build-target", { BuildTarget: "standalonelinux64" }, "completed"],
  ["set-build-target", { BuildTarget: "StandaloneLinux64" }, "completed"],
  ["set-build-target", { BuildTarget: "Dreamcast" }, "unsupported_build_target"],
  ["set-build-target", {}, "invalid_arguments"],
  ["build-player", { BuildTarget: "StandaloneLinux64", BuildProfile: PROFILE }, "wrong_build_target"],
  ["set-build-target", { BuildProfile: PROFILE }, "completed"],
  ["set-build-target", { BuildProfile: "Assets/Other.asset" }, "build_profile_not_found"],
  ["control-play-mode", { Action: "Enter" }, "completed"],
  ["set-build-target", { BuildTarget: "Android" }, "editor_is_playing"],
  ["manage-packages", { Action: "Remove", Package: "com.unity.ugui" }, "editor_is_playing"],
];

type Call = (tool: string, args: Record<string, unknown>) => Promise<CallAnswer>;

async function inWorld(use: (world: World, call: Call) => Promise<void>): Promise<void> {
  const world = await startWorld({ engine: "dotnet" });
  try {
    const client = new Client({ name: "assistant", version: "1" });
    const transport = new StdioClientTransport({ ...(await world.stdioServer()), stderr: "ignore" });
    await client.connect(transport);
    world.processes.guard(transport.pid ?? 0);
    await use(world, async (name, args) => {
      const { structuredContent } = await client.callTool({ name, arguments: args });
      return structuredContent as CallAnswer;
    });
    await client.close();
  } finally {
    await world.close();
  }
}

describe("tools of the project", { concurrent: true, skip: !hasDotnet }, () => {
  test.each([
    ["assets", ASSETS],
    ["packages and platforms", PACKAGES],
  ])(
    "%s: each call ends as it should, and begins once",
    async (_what, calls) => {
      await inWorld(async (world, call) => {
        const told: Play[] = [];
        for (const [tool, args] of calls) {
          const { status, error_type } = await call(tool, { ...args, ...WAIT });
          told.push([tool, args, String(error_type ?? status)]);
        }
        expect(told).toEqual(calls);
        const begun = (await world.editor.executions()).map(({ operationId }) => operationId);
        expect(new Set(begun).size).toBe(begun.length);
      });
    },
    180_000,
  );

  test("a package is asked for once, whatever reloads the domain meanwhile", async () => {
    await inWorld(async (world, call) => {
      await world.editor.do({ do: "script", packageSeconds: 2, compileReloads: true });
      const add = { Action: "Add", Package: "com.unity.cinemachine@3.1.2" };
      const begun = await call("manage-packages", { ...add, timeout: 0.5 });
      expect(begun.status).toBe("timeout");
      await until(
        "it has begun",
        async () => (await world.editor.executions("manage-packages")).length === 1,
      );
      await world.editor.do({ do: "reload", downMs: 100 });
      const told = await call("manage-packages", { ...add, ...WAIT });
      expect(told).toMatchObject({
        status: "completed",
        log_id: begun.log_id,
        result: { Success: true, Version: "3.1.2", Changed: true },
      });
      // The reload that was asked for, and the one behind the package's compilation.
      expect(await world.editor.do({ do: "status" })).toMatchObject({ generation: 2 });
      expect(await world.editor.executions("manage-packages")).toHaveLength(1);
    });
  });

  test("a moved script and another platform end behind the reload that they make", async () => {
    await inWorld(async (world, call) => {
      await world.editor.do({ do: "script", compileReloads: true });
      const move = { Action: "Move", Path: "Assets/Scripts/Player.cs", Destination: "Assets/Hero.cs" };
      const moved = await call("manage-assets", { ...move, ...WAIT });
      expect(moved).toMatchObject({
        status: "completed",
        result: {
          Path: "Assets/Hero.cs",
          Type: "MonoScript",
          Compiled: true,
          ReloadFollows: true,
          CompileErrors: 0,
        },
      });
      await until("the domain is reloaded", async () => {
        return (await world.editor.do({ do: "status" })).generation === 1;
      });
      const switched = await call("set-build-target", { BuildTarget: "StandaloneLinux64", ...WAIT });
      expect(switched).toMatchObject({
        status: "completed",
        result: { BuildTarget: "StandaloneLinux64", Changed: true },
      });
      expect(await world.editor.do({ do: "status" })).toMatchObject({ generation: 2 });
      expect(await world.editor.executions()).toHaveLength(2);
    });
  });

  test("what the user of the Editor has not allowed does not run", async () => {
    await inWorld(async (world, call) => {
      for (const name of ["assets", "packages", "builds"])
        await world.editor.do({ do: "switch", name, on: false });
      for (const [tool, args] of [
        ["manage-assets", { Action: "Refresh" }],
        ["manage-packages", { Action: "Remove", Package: "com.unity.ugui" }],
        ["set-build-target", { BuildTarget: "StandaloneLinux64" }],
      ] as const)
        expect(await call(tool, { ...args, ...WAIT })).toMatchObject({
          error_type: "security_blocked",
        });
      for (const tool of ["find-assets", "list-packages"])
        expect(await call(tool, WAIT)).toMatchObject({ status: "completed" });
      expect(await world.editor.executions()).toEqual([]);
    });
  });
});
