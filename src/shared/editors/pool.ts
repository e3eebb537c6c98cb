/**
 * Pools (▲13): a pool is named by labels, and its members are the Editors that have all of them. Its operations wait in a queue
 * of their own, from which Editors that are idle take them.
 */
import { slugOf } from "./editor-id.js";

const PREFIX = "pool:";

/** The longest label; the most that an Editor gives itself, or that a pool names. */
const LABEL_LENGTH = 64;
const LABELS = 32;

/** `linux`, `gpu`, `unity=6000.0.26f1`; case does not matter. */
const LABEL = /^[a-z0-9][a-z0-9._-]*(=[a-z0-9._-]+)?$/;

/** In the place of an Editor's id, which has no colon. */
export function isPool(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The labels that a pool's id names. */
export function labelsIn(pool: string): string[] {
  return pool.slice(PREFIX.length).split(",");
}

/**
 * The id of the pool that a caller names as `pool:android,linux`: the same for the same labels. Undefined: names no pool; an empty
 * text: not with these labels.
 */
export function poolIn(named: string): string | undefined {
  if (named.slice(0, PREFIX.length).toLowerCase() !== PREFIX) return undefined;
  const labels = labelsIn(named).map((label) => label.trim().toLowerCase());
  return labels.length <= LABELS && labels.every(isLabel)
    ? `${PREFIX}${[...new Set(labels)].sort().join(",")}`
    : "";
}

export function isLabel(label: string): boolean {
  return label.length <= LABEL_LENGTH && LABEL.test(label);
}

/** The labels of an Editor: those that it gives itself, and its project and Unity version. */
export function labelsOf(editor: {
  projectName: string;
  unityVersion: string;
  labels?: readonly string[] | undefined;
}): string[] {
  const { projectName, unityVersion, labels = [] } = editor;
  const own = ownLabels(labels.map((label) => label.toLowerCase()).filter(isLabel));
  // Of a name without such letters nothing would be left that tells it from others.
  const project = /[a-z0-9]/i.test(projectName)
    ? [`project=${slugOf(projectName)}`.slice(0, LABEL_LENGTH)]
    : [];
  const known = [...project, `unity=${unityVersion.toLowerCase()}`].filter(isLabel);
  return [...new Set([...own.slice(0, LABELS), ...known])].sort();
}

/** Without those that say what is shown beside them: the project and the Unity version. */
export function ownLabels(labels: readonly string[]): string[] {
  return labels.filter((label) => !/^(project|unity)=/.test(label));
}

export function isMember(pool: string, labels: readonly string[]): boolean {
  return labelsIn(pool).every((label) => labels.includes(label));
}
