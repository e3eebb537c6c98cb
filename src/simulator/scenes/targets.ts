/** Finds what a parameter names: an object by id, path or unique name, and a component on it. */
import { toolFailure } from "../tool-definition.js";
import { typesNamed } from "./component-catalogue.js";
import { type Component, idOf, objectsOf, pathOf, type SceneNode, type SceneWorld } from "./scene-world.js";

const ID = /^(\d+(\.\d+)?@[0-9a-f]{8}|#-?\d+(:\d+)?)$/;

export const rooted = (path: string): string => `/${path.replace(/^\/+|\/+$/g, "")}`;

/** The object of an id, or all of a path or name; fails when there is none. */
export function targets(world: SceneWorld, target: string): SceneNode[] {
  const objects = objectsOf(world);
  if (ID.test(target)) {
    const found = objects.filter((one) => idOf(world, one) === target);
    if (found.length > 0) return found;
    throw toolFailure(
      "game_object_not_found",
      `No open scene has an object of the id ${target}: it was deleted, or its scene was closed or loaded again. Find it again with find-game-objects.`,
    );
  }
  const isPath = target.includes("/");
  const found = objects.filter((one) => (isPath ? pathOf(one) === rooted(target) : one.name === target));
  if (found.length > 0) return found;
  const name = target.slice(target.lastIndexOf("/") + 1).toLowerCase();
  const near = objects
    .filter((one) => name !== "" && one.name.toLowerCase().includes(name))
    .slice(0, 3)
    .map((one) => `${pathOf(one)} (${idOf(world, one)})`);
  const hint =
    near.length === 0 ? "find-game-objects lists what there is." : `Did you mean ${near.join(" or ")}?`;
  throw toolFailure("game_object_not_found", `No open scene has an object ${target}. ${hint}`);
}

/** Fails unless it is exactly one. */
export function target(world: SceneWorld, wanted: string, parameter = "Target"): SceneNode {
  if (wanted.replaceAll(/[/ ]/g, "") === "") {
    throw toolFailure("invalid_arguments", `${parameter} is empty: give an id, a path or a name.`);
  }
  const found = targets(world, wanted);
  const [first] = found;
  if (first && found.length === 1) return first;
  const listed = found.slice(0, 10).map((one) => `${idOf(world, one)} (${pathOf(one)})`);
  const more = found.length > 10 ? ` and ${found.length - 10} more` : "";
  throw toolFailure(
    "game_object_ambiguous",
    `${found.length} objects are called ${wanted}: ${listed.join(", ")}${more}. Name one by its id.`,
  );
}

/** Names by which components on one object are found: the second of a type is Type[1]. */
export const componentNames = ({ components }: SceneNode): string[] =>
  components.map(({ type }, index) => {
    const before = components.slice(0, index).filter((other) => other.type === type).length;
    return before === 0 ? type : `${type}[${before}]`;
  });

/** @param advice What else the caller can do where it is none, as a sentence with a space in front. */
export function componentOn(node: SceneNode, wanted: string, advice = ""): Component {
  const [, name = wanted, index = "0"] = /^(.+)\[(\d+)\]$/.exec(wanted) ?? [];
  const short = name.slice(name.lastIndexOf(".") + 1).toLowerCase();
  const found = node.components.filter(({ type }) => type.toLowerCase() === short)[Number(index)];
  if (found) return found;
  throw toolFailure(
    "component_not_found",
    `${node.name} has no component ${wanted}. It has ${componentNames(node).join(", ")}.${advice}`,
  );
}

/** The full name of the one type of that name. */
export function componentType(name: string): string {
  const types = typesNamed(name);
  const [only] = types;
  if (only !== undefined && types.length === 1) return only;
  throw only === undefined
    ? toolFailure(
        "component_type_not_found",
        `There is no component type ${name}. Look at its spelling; a new script is there once it is compiled (compile).`,
      )
    : toolFailure(
        "component_type_ambiguous",
        `Several component types are ${name}: ${types.join(", ")}. Give the full name.`,
      );
}
