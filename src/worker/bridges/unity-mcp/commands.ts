/**
 * The commands of MCP for Unity that are offered: it describes its own tools in its Python server, not on the wire. Names,
 * actions and parameters are those that the Editor's side reads (docs/reference/bridges.md says where); the words are ours.
 *
 * None is declared idempotent, and `reads` is set only where no action of the command changes anything.
 */
import type { JsonObjectSchema } from "../../../shared/tools/tool.js";

export interface OfferedCommand {
  name: string;
  description: string;
  inputSchema: JsonObjectSchema;
  reads?: true;
  /** May take longer than the 30 s after which the bridge answers without knowing the outcome. */
  long?: true;
}

const text = (description: string) => ({ type: "string", description });
const flag = (description: string) => ({ type: "boolean", description });
const count = (description: string) => ({ type: "integer", description });
const one = (values: string[], description: string) => ({ type: "string", enum: values, description });
const names = (description: string) => ({ type: "array", items: { type: "string" }, description });
const object = (description: string) => ({ type: "object", description });
const vector = (description: string) => ({
  type: "array",
  items: { type: "number" },
  minItems: 3,
  maxItems: 3,
  description,
});

function of(properties: Record<string, Record<string, unknown>>, required: string[] = []): JsonObjectSchema {
  return { type: "object", properties, ...(required.length > 0 ? { required } : {}) };
}

const PAGE = { pageSize: count("Entries of a page"), cursor: count("First entry of the page, from 0") };
const TESTS_SHOWN = {
  includeDetails: flag("Report every test"),
  includeFailedTests: flag("Report the tests that failed or were skipped"),
};

export const COMMANDS: readonly OfferedCommand[] = [
  {
    name: "read_console",
    description: "Reads entries of Unity's console; errors and warnings unless `types` says otherwise.",
    inputSchema: of({
      // The command can clear the console as well, which is not offered: it is a read.
      action: one(["get"], "Read the entries"),
      types: { type: "array", items: one(["error", "warning", "log", "all"], "Kind") },
      count: count("Most entries, without pages"),
      filterText: text("Only entries with this text"),
      format: one(["plain", "detailed", "json"], "Form of the entries"),
      includeStacktrace: flag("With stack traces"),
      ...PAGE,
    }),
    reads: true,
  },
  {
    name: "find_gameobjects",
    description: "Finds GameObjects of the open scenes; returns their instance ids.",
    inputSchema: of(
      {
        searchTerm: text("What to look for"),
        searchMethod: one(
          ["by_name", "by_tag", "by_layer", "by_component", "by_path", "by_id"],
          "What it is compared with",
        ),
        includeInactive: flag("Inactive ones too"),
        ...PAGE,
      },
      ["searchTerm"],
    ),
    reads: true,
  },
  {
    name: "get_editor_state",
    description: "Reads what the Editor is doing: play mode, compilation, imports, tests, open scene.",
    inputSchema: of({}),
    reads: true,
  },
  {
    name: "get_test_job",
    description: "Reads the state, and the results so far, of a test run that `run_tests` started.",
    inputSchema: of({ job_id: text("As `run_tests` returned it"), ...TESTS_SHOWN }, ["job_id"]),
    reads: true,
  },
  {
    name: "run_tests",
    description:
      "Starts a test run and returns a `job_id` at once, before any test has run; read its results with `get_test_job`.",
    inputSchema: of({
      mode: one(["EditMode", "PlayMode"], "Which tests; EditMode by default"),
      testNames: names("Full names"),
      groupNames: names("Regular expressions of names"),
      categoryNames: names("NUnit categories"),
      assemblyNames: names("Assemblies"),
      ...TESTS_SHOWN,
    }),
  },
  {
    name: "execute_menu_item",
    description: "Executes an item of Unity's menu, as a click on it does.",
    inputSchema: of({ menuPath: text("Its path, such as File/Save Project") }, ["menuPath"]),
    long: true,
  },
  {
    name: "refresh_unity",
    description:
      "Imports changed assets; with `compile` it also asks for a compilation, which may reload the domain.",
    inputSchema: of({
      mode: one(["if_dirty", "force"], "When to import"),
      scope: one(["assets", "scripts", "all"], "What to import"),
      compile: one(["none", "request"], "Whether to compile"),
      wait_for_ready: flag("Answer once Unity is idle"),
    }),
    long: true,
  },
  {
    name: "manage_editor",
    description: "Play mode, tools, tags, layers, undo and redo.",
    inputSchema: of(
      {
        action: one(
          [
            ...[
              "play",
              "pause",
              "stop",
              "set_active_tool",
              "add_tag",
              "remove_tag",
              "add_layer",
              "remove_layer",
            ],
            ...["undo", "redo"],
          ],
          "What to do; `pause` pauses or goes on",
        ),
        toolName: text("For set_active_tool"),
        tagName: text("For add_tag and remove_tag"),
        layerName: text("For add_layer and remove_layer"),
      },
      ["action"],
    ),
  },
  {
    name: "manage_scene",
    description: "Creates, opens, saves, closes, lists and checks scenes.",
    inputSchema: of(
      {
        action: one(
          [
            ...[
              "create",
              "load",
              "save",
              "get_hierarchy",
              "get_active",
              "get_build_settings",
              "scene_view_frame",
            ],
            ...["close_scene", "set_active_scene", "get_loaded_scenes", "move_to_scene", "validate"],
          ],
          "What to do",
        ),
        name: text("The scene's name"),
        path: text("Its folder under Assets"),
        buildIndex: count("For load: its place in the build settings"),
        sceneName: text("A loaded scene, by name"),
        scenePath: text("A loaded scene, by path"),
        target: text("For move_to_scene: the GameObject"),
        additive: flag("For load: beside the open scenes"),
        removeScene: flag("For close_scene: remove it, rather than unload it"),
        template: one(["empty", "default", "3d_basic", "2d_basic"], "For create"),
        autoRepair: flag("For validate: repair missing scripts"),
        parent: text("For get_hierarchy: whose children to list"),
        maxNodes: count("For get_hierarchy: most nodes"),
        includeTransform: flag("For get_hierarchy: with positions"),
        sceneViewTarget: text("For scene_view_frame: the GameObject"),
        ...PAGE,
      },
      ["action"],
    ),
    long: true,
  },
  {
    name: "manage_gameobject",
    description: "Creates, changes, duplicates, moves and deletes GameObjects.",
    inputSchema: of(
      {
        action: one(["create", "modify", "delete", "duplicate", "move_relative", "look_at"], "What to do"),
        target: text("Name, path or instance id"),
        searchMethod: one(
          ["by_id", "by_name", "by_path", "by_tag", "by_layer", "by_component"],
          "How `target` is understood",
        ),
        name: text("New name"),
        tag: text("Tag"),
        layer: text("Layer"),
        parent: text("Parent"),
        primitiveType: text("For create: Cube, Sphere …"),
        position: vector("x, y, z"),
        rotation: vector("Euler angles"),
        scale: vector("x, y, z"),
        setActive: flag("Whether it is active"),
        isStatic: flag("Whether it is static"),
        componentsToAdd: names("Types of components"),
        componentsToRemove: names("Types of components"),
        componentProperties: object("Values by component and property"),
        saveAsPrefab: flag("For create: also as a prefab"),
        prefabPath: text("Path of the prefab"),
        new_name: text("For duplicate: the copy's name"),
        offset: vector("For duplicate and move_relative"),
        reference_object: text("For move_relative: relative to what"),
        direction: one(
          ["left", "right", "up", "down", "forward", "back", "front", "backward", "behind"],
          "For move_relative",
        ),
        distance: { type: "number", description: "For move_relative" },
        world_space: flag("For move_relative: directions of the world"),
        look_at_target: { description: "For look_at: a GameObject, or x, y, z" },
      },
      ["action"],
    ),
  },
  {
    name: "manage_asset",
    description: "Creates, imports, changes, moves, deletes and searches assets.",
    inputSchema: of(
      {
        action: one(
          [
            ...["import", "create", "modify", "delete", "duplicate", "move", "rename", "search", "get_info"],
            ...["create_folder", "get_components"],
          ],
          "What to do",
        ),
        path: text("The asset under Assets; for search the folder"),
        assetType: text("For create: Material, Folder …"),
        properties: object("For create and modify"),
        destination: text("For duplicate, move and rename"),
        searchPattern: text("For search"),
        filterType: text("For search: a type"),
        filterDateAfter: text("For search: a date"),
        generatePreview: flag("With a preview image"),
        pageSize: count("Entries of a page"),
        pageNumber: count("From 1"),
      },
      ["action", "path"],
    ),
    long: true,
  },
  {
    name: "manage_script",
    description: "Creates, reads and deletes C# scripts; a change is compiled, which reloads the domain.",
    inputSchema: of(
      {
        action: one(["create", "read", "delete", "get_sha", "validate"], "What to do"),
        name: text("Without .cs"),
        path: text("Folder under Assets"),
        contents: text("For create: the code"),
        scriptType: text("For create: MonoBehaviour …"),
        namespace: text("For create"),
        level: one(["basic", "standard", "comprehensive", "strict"], "For validate"),
      },
      ["action", "name"],
    ),
    long: true,
  },
];
