/** The tools of the C# bridge that change scenes, through the whole broker. */
import { describe, expect, test } from "vitest";
import { hasDotnet } from "../../harness/editor/dotnet.js";
import type { CallAnswer } from "../../harness/processes/process-clients.js";
import { startWorld, type World } from "../../harness/processes/process-world.js";

type Arguments = Record<string, unknown>;

const MENU = "Assets/Scenes/Menu.unity";
const ENEMY = "Assets/Prefabs/Enemy.prefab";

const BALL = {
  Name: "Ball",
  Parent: "Root0",
  Primitive: "Sphere",
  Position: [1, 2.5, 3],
  Rotation: [0, 90, 0],
  Components: ["Rigidbody", "Mover"],
};
const MOVER = {
  Target: "Ball",
  Component: "Mover",
  Properties: {
    speed: 0.1,
    kind: "fast",
    target: "/Root0/Object1",
    stats: { health: 5 },
    points: [
      [1, 2, 3],
      [4, 5, 6],
    ],
  },
};
const make = (Name: string) => ({ Tool: "create-game-object", Arguments: { Name } });
const remove = (Target: string) => ({ Tool: "delete-game-object", Arguments: { Target } });

/** In this order: each call finds what those before it have left. */
const CALLS: readonly (readonly [tool: string, args: Arguments])[] = [
  ["find-game-objects", { NamePattern: "Object1" }],
  ["get-hierarchy", { MaxDepth: 0 }],
  ["create-game-object", BALL],
  ["create-game-object", { Prefab: ENEMY, Name: "Object1" }],
  ["modify-game-object", { Target: "Object1", Active: false }],
  ["modify-game-object", { Target: "/Object1", Parent: "Ball", Space: "World", Tag: "Player", Layer: "UI" }],
  ["modify-game-object", { Target: "Ball", Parent: "Object1" }],
  ["modify-game-object", { Target: "Ball", Parent: "/Root0/Ball/Object1" }],
  ["modify-game-object", { Target: "Ball", Layer: "Sky" }],
  ["modify-component", MOVER],
  [
    "modify-component",
    { Target: "Ball", Component: "Mover", Properties: { "points[1]": { x: 0, y: 0, z: 7 } } },
  ],
  ["modify-component", { Target: "Ball", Component: "Mover", Properties: { speed: 2, sped: 1 } }],
  ["modify-component", { Target: "Ball", Component: "Mover", Properties: { speed: 2, kind: "Medium" } }],
  ["modify-component", { Target: "Ball", Component: "Light", Properties: { color: "#FF0000" } }],
  ["modify-component", { Target: "Ball", Component: "Mover", Properties: {} }],
  ["add-component", { Target: "Ball", Component: "Rigidbody" }],
  ["add-component", { Target: "Ball", Component: "Nothing" }],
  ["add-component", { Target: "Ball", Component: "BoxCollider", Properties: { isTrigger: true } }],
  ["read-component", { Target: "Ball" }],
  ["read-component", { Target: "Ball", Component: "Mover", Property: "points", MaxResults: 1 }],
  ["remove-component", { Target: "Ball", Component: "BoxCollider[1]" }],
  ["remove-component", { Target: "Ball", Component: "BoxCollider[3]" }],
  ["delete-game-object", { Target: "Root0/Ball/Objct1" }],
  ["delete-game-object", { Target: "/Root0/Ball/Object1" }],
  ["run-batch", { Steps: [make("A"), remove("Nobody"), make("B")] }],
  ["run-batch", { Steps: [make("C"), remove("Nobody"), make("D")], ContinueOnError: true }],
  ["run-batch", { Steps: [make("E"), { Tool: "execute-menu-item" }] }],
  ["run-batch", { Steps: [make("E"), { Tool: "delete-game-object" }] }],
  ["get-hierarchy", { RootPath: "Ball" }],
  ["open-scene", { Path: MENU }],
  ["open-scene", { Path: "Assets/Menus.unity" }],
  ["open-scene", { Path: "../Menu.unity" }],
  ["save-scene", {}],
  ["open-scene", { Path: MENU, Mode: "Additive" }],
  ["delete-game-object", { Target: "Menu Camera" }],
  ["open-scene", { Path: MENU, UnsavedScenes: "discard" }],
  ["create-scene", { Path: "Assets/Scenes/Level" }],
  ["create-scene", { Path: "Assets/Scenes/Level.unity" }],
  ["get-hierarchy", {}],
];

type Call = (tool: string, args: Arguments) => Promise<CallAnswer>;

async function inWorld(use: (call: Call, world: World) => Promise<void>): Promise<void> {
  const world = await startWorld({ engine: "dotnet" });
  try {
    const client = await world.http();
    await use((tool, args) => client.call(tool, { ...args, timeout: 30 }), world);
    await client.close();
  } finally {
    await world.close();
  }
}

describe("the tools that change scenes", { skip: !hasDotnet, timeout: 120_000 }, () => {
  test("do and tell what they say", async () => {
    await inWorld(async (call) => {
      const ended: string[] = [];
      for (const [tool, args] of CALLS) {
        const { status, error_type } = await call(tool, args);
        ended.push(`${tool}: ${error_type ?? status}`);
      }
      expect(ended).toMatchInlineSnapshot(`
        [
          "find-game-objects: completed",
          "get-hierarchy: completed",
          "create-game-object: completed",
          "create-game-object: completed",
          "modify-game-object: game_object_ambiguous",
          "modify-game-object: completed",
          "modify-game-object: game_object_ambiguous",
          "modify-game-object: parent_is_below",
          "modify-game-object: layer_not_found",
          "modify-component: completed",
          "modify-component: completed",
          "modify-component: property_not_found",
          "modify-component: invalid_arguments",
          "modify-component: component_not_found",
          "modify-component: invalid_arguments",
          "add-component: component_refused",
          "add-component: component_type_not_found",
          "add-component: completed",
          "read-component: completed",
          "read-component: completed",
          "remove-component: completed",
          "remove-component: component_not_found",
          "delete-game-object: game_object_not_found",
          "delete-game-object: completed",
          "run-batch: completed",
          "run-batch: completed",
          "run-batch: invalid_arguments",
          "run-batch: invalid_arguments",
          "get-hierarchy: completed",
          "open-scene: unsaved_scenes",
          "open-scene: scene_not_found",
          "open-scene: invalid_arguments",
          "save-scene: completed",
          "open-scene: completed",
          "delete-game-object: completed",
          "open-scene: completed",
          "create-scene: completed",
          "create-scene: scene_exists",
          "get-hierarchy: completed",
        ]
      `);
    });
  });

  test("a property is set, set otherwise and set back, and one call adds one component", async () => {
    await inWorld(async (call) => {
      await call("create-game-object", BALL);
      const speed = (value: number): Arguments => ({
        Target: "Ball",
        Component: "Mover",
        Properties: { speed: value },
      });
      for (const value of [1, 2, 1]) {
        const answer = await call("modify-component", speed(value));
        expect(answer).toMatchObject({ status: "completed", result: { properties: { speed: value } } });
        expect(answer).not.toHaveProperty("deduplicated");
      }
      const read = await call("read-component", { Target: "Ball", Component: "Mover", Property: "speed" });
      expect(read).toMatchObject({ result: { components: { Mover: { speed: 1 } } } });

      const collider = { Target: "Ball", Component: "BoxCollider", idempotency_key: "collider" };
      const { log_id } = await call("add-component", collider);
      expect(await call("add-component", collider)).toMatchObject({ log_id, deduplicated: true });
    });
  });

  test("a switch that is off blocks them, alone and as steps, and changes outlive a domain reload", async () => {
    await inWorld(async (call, world) => {
      await call("create-game-object", { Name: "Kept" });
      await world.editor.do({ do: "reload", downMs: 100 });
      const found = await call("find-game-objects", { NamePattern: "Kept" });
      expect(found).toMatchObject({ status: "completed", result: { totalFound: 1 } });

      await world.editor.do({ do: "switch", name: "scenes", on: false });
      const blocked = [
        await call("delete-game-object", { Target: "Kept" }),
        await call("run-batch", { Steps: [remove("Kept")] }),
      ];
      for (const answer of blocked) expect(answer).toMatchObject({ status: "error" });
      expect(JSON.stringify(blocked)).toContain("Allow Scene Editing");
      const read = await call("read-component", { Target: "Kept" });
      expect(read).toMatchObject({ status: "completed", result: { path: "/Kept" } });
    });
  });
});
