/** The component types of the simulated project, with their properties as Unity serializes them; Mover and Marker are scripts. */

type Kind = "Group" | "List" | "Integer" | "Number" | "Flag" | "Text" | "Choice" | "Vector" | "Color";

export interface Property {
  name: string;
  type: string;
  kind: Kind | "Reference" | "Other";
  /** Of a reference: the number of an object of a scene, or the path of an asset. */
  value?: unknown;
  words?: readonly string[];
  /** What is below a group, or the elements of a list. */
  children?: Property[];
  /** What a new element of a list is like. */
  element?: Property;
}

const flag = (name: string, value: boolean): Property => ({ name, type: "bool", kind: "Flag", value });
const number = (name: string, value: number): Property => ({ name, type: "float", kind: "Number", value });
const vector = (name: string, ...value: number[]): Property => ({
  name,
  type: value.length === 3 ? "Vector3" : "Quaternion",
  kind: "Vector",
  value,
});
const color = (name: string, ...value: number[]): Property => ({ name, type: "Color", kind: "Color", value });
const choice = (name: string, value: string, ...words: string[]): Property => ({
  name,
  type: "Enum",
  kind: "Choice",
  value,
  words,
});
const reference = (name: string, type: string): Property => ({
  name,
  type: `PPtr<${type}>`,
  kind: "Reference",
  value: null,
});
const list = (name: string, element: Property): Property => ({
  name,
  type: "vector",
  kind: "List",
  children: [],
  element,
});

const enabled = (): Property => flag("m_Enabled", true);

const TYPES: Record<string, () => Property[]> = {
  "UnityEngine.Transform": () => [
    vector("m_LocalRotation", 0, 0, 0, 1),
    vector("m_LocalPosition", 0, 0, 0),
    vector("m_LocalScale", 1, 1, 1),
  ],
  "UnityEngine.Camera": () => [
    enabled(),
    color("m_BackGroundColor", 0.19, 0.3, 0.47, 0),
    number("field of view", 60),
  ],
  "UnityEngine.Light": () => [
    enabled(),
    choice("m_Type", "Directional", "Spot", "Directional", "Point"),
    color("m_Color", 1, 1, 1, 1),
    number("m_Intensity", 1),
  ],
  "UnityEngine.MeshFilter": () => [reference("m_Mesh", "Mesh")],
  "UnityEngine.MeshRenderer": () => [enabled(), list("m_Materials", reference("data", "Material"))],
  "UnityEngine.BoxCollider": () => [
    enabled(),
    flag("m_IsTrigger", false),
    vector("m_Size", 1, 1, 1),
    vector("m_Center", 0, 0, 0),
  ],
  "UnityEngine.Rigidbody": () => [number("m_Mass", 1), flag("m_UseGravity", true)],
  Mover: () => [
    enabled(),
    number("speed", 1.5),
    choice("kind", "Slow", "Slow", "Fast"),
    reference("target", "Transform"),
    {
      name: "stats",
      type: "Stats",
      kind: "Group",
      children: [
        { name: "health", type: "int", kind: "Integer", value: 10 },
        { name: "label", type: "string", kind: "Text", value: "" },
      ],
    },
    list("points", vector("data", 0, 0, 0)),
    { name: "curve", type: "AnimationCurve", kind: "Other" },
  ],
  "Game.Marker": () => [enabled()],
  "Tools.Marker": () => [enabled()],
};

/** The name without its namespace. */
export const shortName = (type: string): string => type.slice(type.lastIndexOf(".") + 1);

/** Full names of the types of that name, short or full, in any case. */
export function typesNamed(name: string): string[] {
  const wanted = name.toLowerCase();
  return Object.keys(TYPES).filter((type) =>
    [type, shortName(type)].some((one) => one.toLowerCase() === wanted),
  );
}

export const fullName = (type: string): string => typesNamed(type)[0] ?? type;

export const propertiesOf = (type: string): Property[] => TYPES[fullName(type)]?.() ?? [enabled()];
