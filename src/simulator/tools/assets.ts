/** find-assets and manage-assets over the simulated project. */
import { basename, dirname, extname } from "node:path/posix";
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { type Asset, FOLDER, type Project } from "../project.js";
import { type Arguments, toolFailure } from "../tool-definition.js";
import { readablePath, writablePath } from "./asset-path.js";

const MOST_SUGGESTIONS = 3;

export const findAssets = bridgeTool("find-assets", {
  async run({ args, world: { project } }) {
    const path = args.text("Path", "");
    if (path !== "") {
      const known = readablePath("Path", path);
      const asset = existing(project, known);
      const ImportSettings = asset.type === "Texture2D" ? { m_IsReadable: "false" } : {};
      return { TotalFound: 1, Results: [{ ...described(known, asset), ImportSettings }] };
    }
    const folder = readablePath("Folder", args.text("Folder", "Assets"));
    if (folder !== "Packages" && existing(project, folder).type !== FOLDER)
      throw toolFailure("invalid_arguments", `Folder is not a folder: ${folder}`);
    const type = args.text("Type", "");
    const words = `${args.text("SearchFilter", "")}${type === "" ? "" : ` t:${type}`}`;
    const paths = found(project, words, folder);
    const Results = paths.slice(0, args.number("MaxResults", 50)).map((one) => {
      return described(one, project.assets.get(one) as Asset);
    });
    return { TotalFound: paths.length, Results };
  },
});

export const manageAssets = bridgeTool("manage-assets", {
  simulated: {
    Reload: { type: "boolean", description: "reload the domain after scripts were compiled", default: false },
  },
  async run({ args, reloadAfterwards, world }) {
    const Action = args.text("Action");
    const { project } = world;
    const scripts = (): string => [...project.assets.keys()].filter((path) => path.endsWith(".cs")).join();
    const before = scripts();
    const change = changed(project, Action, args);
    if (Action !== "Refresh") world.assetCounter += 1;
    const answer = { Success: true, Action, ...change, Undo: false };
    if (scripts() === before) return answer;
    const ReloadFollows = args.flag("SimulatedReload", false);
    if (ReloadFollows) reloadAfterwards();
    return { ...answer, Compiled: true, ReloadFollows, CompileErrors: 0 };
  },
});

function changed(project: Project, action: string, args: Arguments): object {
  switch (action) {
    case "Refresh":
      return {};
    case "Move":
    case "Copy":
      return transferred(project, action, args);
    case "Delete": {
      const path = writablePath("Path", args.text("Path", ""));
      const gone = described(path, existing(project, path));
      project.move(path, undefined);
      return { ...gone, Trashed: path };
    }
    case "CreateFolder":
      return folderMade(project, writablePath("Path", args.text("Path", "")));
    case "CreateMaterial":
      return placed(project, newPath(args, ".mat"), args, (path) => project.add(path, "Material"));
    case "CreatePrefab": {
      const path = newPath(args, ".prefab");
      if (args.text("Target", "") === "") throw toolFailure("invalid_arguments", "Target is required.");
      return placed(project, path, args, () => project.add(path, "GameObject"), { inPlace: true });
    }
    case "Reimport": {
      const path = readablePath("Path", args.text("Path", ""));
      return described(path, existing(project, path));
    }
    default:
      throw toolFailure("invalid_arguments", `Action must be one of the known ones, not "${action}".`);
  }
}

function transferred(project: Project, action: "Move" | "Copy", args: Arguments): object {
  const from = (action === "Move" ? writablePath : readablePath)("Path", args.text("Path", ""));
  existing(project, from);
  const given = readablePath("Destination", args.text("Destination", ""));
  const isInside = project.assets.get(given)?.type === FOLDER && given !== from;
  const to = writablePath("Destination", isInside ? `${given}/${basename(from)}` : given);
  if (to === from) throw toolFailure("invalid_arguments", `Destination is where it is already: ${to}`);
  if (to.startsWith(`${from}/`))
    throw toolFailure("invalid_arguments", `Destination is inside of Path: ${to}`);
  return placed(project, to, args, () =>
    action === "Move" ? project.move(from, to) : project.copy(from, to),
  );
}

function folderMade(project: Project, path: string): object {
  const missing: string[] = [];
  for (let at = path; project.assets.get(at)?.type !== FOLDER; at = dirname(at)) {
    if (project.assets.has(at)) throw exists(project, at);
    missing.unshift(at);
  }
  for (const folder of missing) project.add(folder, FOLDER);
  const known = missing.length === 0 ? { Message: "It was there already." } : {};
  return { ...described(path, existing(project, path)), ...known };
}

/** Something at a path that is free, or whose asset may go to the trash. */
function placed(
  project: Project,
  path: string,
  args: Arguments,
  change: (path: string) => void,
  { inPlace = false } = {},
): object {
  const parent = dirname(path);
  if (project.assets.get(parent)?.type !== FOLDER)
    throw toolFailure("asset_not_found", `There is no folder ${parent}; CreateFolder makes it.`);
  const there = project.assets.get(path);
  if (there && (!args.flag("Overwrite", false) || there.type === FOLDER)) throw exists(project, path);
  const isTrashed = there !== undefined && !inPlace;
  if (isTrashed) project.move(path, undefined);
  change(path);
  return { ...described(path, existing(project, path)), ...(isTrashed ? { Trashed: path } : {}) };
}

function newPath(args: Arguments, extension: string): string {
  const path = writablePath("Path", args.text("Path", ""));
  if (path.toLowerCase().endsWith(extension)) return path;
  throw toolFailure("invalid_arguments", `Path must end in ${extension}: ${path}`);
}

function existing(project: Project, path: string): Asset {
  const asset = project.assets.get(path);
  if (asset) return asset;
  const others = found(project, basename(path, extname(path)), "Assets").slice(0, MOST_SUGGESTIONS);
  const hint = others.length === 0 ? "" : ` Did you mean ${others.join(" or ")}?`;
  throw toolFailure("asset_not_found", `There is no asset ${path}.${hint}`);
}

function exists(project: Project, path: string): Error {
  const type = project.assets.get(path)?.type;
  return toolFailure(
    "asset_exists",
    type === FOLDER
      ? `There is a folder ${path} already. Nothing was changed.`
      : `There is ${path} already (${type}). Choose another path, or Overwrite. Nothing was changed.`,
  );
}

function found(project: Project, filter: string, folder: string): string[] {
  const words = filter.split(" ").filter((word) => word !== "");
  const fits = (path: string, { type }: Asset): boolean =>
    words.every((word) =>
      word.startsWith("t:")
        ? type === word.slice(2)
        : basename(path).toLowerCase().includes(word.toLowerCase()),
    );
  return [...project.assets]
    .filter(([path, asset]) => path.startsWith(`${folder}/`) && fits(path, asset))
    .map(([path]) => path)
    .sort();
}

const described = (Path: string, { guid, type }: Asset): object => ({ Path, Guid: guid, Type: type });
