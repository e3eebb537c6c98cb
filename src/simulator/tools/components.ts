/** read-component, add-component, modify-component and remove-component. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import { findProperty, readAll, readProperty, writeProperty } from "../scenes/properties.js";
import { type Component, edit, idOf, pathOf, type SceneNode } from "../scenes/scene-world.js";
import { componentNames, componentOn, componentType, target } from "../scenes/targets.js";
import { type Arguments, toolFailure } from "../tool-definition.js";
import type { World } from "../world.js";
import { attachComponent, changed } from "./objects.js";

export const readComponent = bridgeTool("read-component", {
  async run({ args, world: { scenes } }) {
    const [wanted, path] = [args.text("Component", ""), args.text("Property", "")];
    if (path !== "" && wanted === "") {
      throw toolFailure("invalid_arguments", "Property is of one component: give Component too.");
    }
    const node = target(scenes, args.text("Target"));
    const only = wanted === "" ? undefined : componentOn(node, wanted);
    const most = args.number("MaxResults", 20);
    const names = componentNames(node);
    const components = node.components.flatMap((one, index) => {
      if (only && one !== only) return [];
      if (path === "") return [[names[index] ?? one.type, readAll(scenes, one.properties, most)]];
      const found = findProperty(one, path);
      const read = { [found.path]: readProperty(scenes, found.property, most) };
      return [[names[index] ?? one.type, read]];
    });
    return { id: idOf(scenes, node), path: pathOf(node), components: Object.fromEntries(components) };
  },
});

export const addComponent = bridgeTool("add-component", {
  async run({ args, world }) {
    const { scenes } = world;
    const values = propertiesOf(args);
    return edit(scenes, () => {
      const node = target(scenes, args.text("Target"));
      attachComponent(node, componentType(args.text("Component")));
      return set(world, node, node.components.at(-1) as Component, values);
    });
  },
});

export const modifyComponent = bridgeTool("modify-component", {
  async run({ args, world }) {
    const { scenes } = world;
    const values = propertiesOf(args);
    if (Object.keys(values).length === 0) {
      throw toolFailure("invalid_arguments", "Nothing to do: Properties is empty.");
    }
    return edit(scenes, () => {
      const node = target(scenes, args.text("Target"));
      const component = componentOn(node, args.text("Component"), " To add one, use add-component.");
      return set(world, node, component, values);
    });
  },
});

const propertiesOf = (args: Arguments): Record<string, unknown> =>
  (args.value("Properties") ?? {}) as Record<string, unknown>;

/** Sets all values, and tells the component as it is then. */
function set(world: World, node: SceneNode, component: Component, values: Record<string, unknown>): object {
  const { scenes } = world;
  for (const [path, value] of Object.entries(values)) writeProperty(scenes, component, path, value);
  const most = Object.keys(values).length + 20;
  const now = Object.keys(values).map((path) => {
    const found = findProperty(component, path);
    return [found.path, readProperty(scenes, found.property, most)];
  });
  const name = componentNames(node)[node.components.indexOf(component)];
  return { component: name, properties: Object.fromEntries(now), ...changed(world, node) };
}

export const removeComponent = bridgeTool("remove-component", {
  async run({ args, world }) {
    const { scenes } = world;
    const node = target(scenes, args.text("Target"));
    const component = componentOn(node, args.text("Component"));
    if (component.type === "Transform") {
      throw toolFailure(
        "component_required",
        "An object cannot do without its transform: delete-game-object deletes it.",
      );
    }
    node.components.splice(node.components.indexOf(component), 1);
    return changed(world, node);
  },
});
