/** Choice of target (▲4): which Editor a call is for. */
import { createHash } from "node:crypto";
import { closest, distance } from "fastest-levenshtein";

/** An Editor's id: `<slug>@<short hash of machine and place>`; the place is the real path of its project. */
export function editorIdOf(name: string, machine: string, place: string): string {
  return `${slugOf(name)}@${createHash("sha256").update(`${machine}\n${place}`).digest("hex").slice(0, 8)}`;
}

/** The readable part of the id. */
export function slugOf(name: string): string {
  return (
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-|-$/g, "") || "project"
  );
}

// Pools (▲13): a pool is named by labels, and its members are the Editors that have all of them. Its operations wait in a queue
// of their own, from which Editors that are idle take them.

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

/**
 * The target that the caller gave: one Editor, a pool of them, or none. `isUnknown`: no known Editor has this name, or several have it;
 * then `editor` is the caller's text, and only existing operations can answer the call. `elsewhere`: the Editors of other projects than
 * the one that the caller works in.
 */
export type Target =
  | { kind: "named"; editor: string; isUnknown?: true }
  | { kind: "pool"; pool: string }
  | { kind: "open"; elsewhere?: readonly string[] };

/** An Editor that a call may go to. */
export interface Candidate {
  id: string;
  projectName: string;
  /** Its real path on its own machine. */
  projectPath: string;
  connected: boolean;
  /** Which pools it is in. */
  labels: readonly string[];
  /** It was connected recently, its process is alive, and its worker waits for it: a domain reload. */
  isReturning?: boolean;
  /** The store does not know it: only its last catalogue is noted. */
  isNoted?: boolean;
}

/** What an Editor is chosen from when the call names none. */
export interface TargetContext {
  candidates: readonly Candidate[];
  /** The Editor that the session selected, connected or not. */
  selected?: string | undefined;
  /** The working folder and the roots of a client on this machine, as real paths. */
  folders?: readonly string[] | undefined;
  /** Editors known before the store was lost, whose ledgers it has not seen since (diagnose.ts). */
  missing?: readonly string[] | undefined;
}

export type TargetProblem =
  /** Or a pool without a known member, or one that is not named by labels. */
  | { code: "EDITOR_UNKNOWN"; named: string; candidates: readonly Candidate[] }
  | { code: "EDITOR_AMBIGUOUS"; named?: string; candidates: readonly Candidate[] }
  | { code: "EDITORS_NOT_BACK"; editors: readonly string[] }
  | { code: "NO_EDITOR" };

/**
 * Choice of target (▲4): resolves the `editor` argument, ignoring case: an id, a project's name, or the beginning of an
 * id from its `@` on. An exact id takes precedence over a name, and a name over the beginning of an id. Or a pool.
 */
export function resolveTarget(named: string, candidates: readonly Candidate[]): Target | TargetProblem {
  const pool = poolIn(named);
  if (pool === "") return { code: "EDITOR_UNKNOWN", named, candidates };
  if (pool !== undefined) return { kind: "pool", pool };
  if (candidates.length === 0) return { code: "NO_EDITOR" };
  const wanted = named.toLowerCase();
  const ways: ((candidate: Candidate) => boolean)[] = [
    ({ id }) => id === named,
    ({ id, projectName }) => projectName.toLowerCase() === wanted || slugIn(id) === wanted,
    ({ id }) => isBeginningOf(id, wanted),
  ];
  for (const fits of ways) {
    const matches = storedOr(candidates.filter(fits));
    const [only] = matches;
    if (only === undefined) continue;
    return matches.length === 1
      ? { kind: "named", editor: only.id }
      : { code: "EDITOR_AMBIGUOUS", named, candidates: matches };
  }
  return { code: "EDITOR_UNKNOWN", named, candidates };
}

/** Choice of target (▲4): of a call that names no Editor, in a session that selected none. */
export function openTarget({ candidates, folders = [] }: TargetContext): Target {
  const home = homeOf(folders, candidates);
  if (!home) return { kind: "open" };
  const path = comparablePath(home.projectPath);
  const others = candidates.filter(({ projectPath }) => comparablePath(projectPath) !== path);
  return { kind: "open", elsewhere: others.map(({ id }) => id) };
}

/** Choice of target (▲4): may this operation answer a call with this target? One of a pool may, whichever Editor ran it. */
export function isFor(target: Target, { editor, pool }: { editor: string; pool?: string }): boolean {
  if (target.kind === "open") return true;
  if (target.kind === "pool") return pool === target.pool;
  if (!target.isUnknown) return editor === target.editor;
  const wanted = target.editor.toLowerCase();
  const isItsProject = /[a-z0-9]/.test(wanted) && slugIn(editor) === slugOf(wanted);
  return isItsProject || isBeginningOf(editor, wanted);
}

/**
 * Choice of target (▲4): the Editor of a new operation: the named one; else the selected one; else the one whose
 * project holds the client's folders; else the only connected one; else, with none connected, the only known one; else,
 * with none known to the store, the only one whose catalogue is noted. While some are missing none is chosen: one of
 * them may have run this very call.
 */
export function editorFor(target: Target, context: TargetContext): string | TargetProblem {
  const { candidates, selected, folders = [], missing = [] } = context;
  if (target.kind === "named") return target.editor;
  if (target.kind === "pool") return poolFor(target.pool, context);
  if (selected !== undefined) return selected;
  if (missing.length > 0) return { code: "EDITORS_NOT_BACK", editors: missing };
  const home = homeOf(folders, candidates);
  if (home) return home.id;
  const [only, ...others] = presentOr(candidates);
  if (only === undefined) return { code: "NO_EDITOR" };
  return others.length === 0 ? only.id : { code: "EDITOR_AMBIGUOUS", candidates };
}

/**
 * Store incarnation (▲13): a pool is closed while Editors are missing, since one of them may have run this very call. Otherwise it
 * needs a member, connected or not.
 */
function poolFor(pool: string, { candidates, missing = [] }: TargetContext): string | TargetProblem {
  if (missing.length > 0) return { code: "EDITORS_NOT_BACK", editors: missing };
  const hasMember = candidates.some(({ labels }) => isMember(pool, labels));
  return hasMember ? pool : { code: "EDITOR_UNKNOWN", named: pool, candidates };
}

/** The innermost project around each folder, if all folders that are in a project agree on it. */
function homeOf(folders: readonly string[], candidates: readonly Candidate[]): Candidate | undefined {
  const homes = new Set<Candidate>();
  for (const folder of folders) {
    const around = candidates.filter(({ projectPath }) => holds(projectPath, folder));
    const innermost = Math.max(...around.map(({ projectPath }) => comparablePath(projectPath).length));
    for (const candidate of around)
      if (comparablePath(candidate.projectPath).length === innermost) homes.add(candidate);
  }
  // The same project may have a second id, of a renamed machine or of another machine with the same path.
  const [home, ...others] = presentOr([...homes]);
  return others.length === 0 ? home : undefined;
}

/** The connected candidates; if none is connected, those that the store knows; if it knows none, all. */
function presentOr(candidates: readonly Candidate[]): readonly Candidate[] {
  const present = candidates.filter(({ connected, isReturning }) => connected || isReturning);
  return present.length > 0 ? present : storedOr(candidates);
}

/** A project that was closed long ago does not make a call ambiguous. */
function storedOr(candidates: readonly Candidate[]): readonly Candidate[] {
  const stored = candidates.filter(({ isNoted }) => !isNoted);
  return stored.length > 0 ? stored : candidates;
}

function holds(project: string, folder: string): boolean {
  const outer = comparablePath(project);
  const inner = comparablePath(folder);
  return outer !== "" && (inner === outer || inner.startsWith(`${outer}/`));
}

/** With less than the whole name of its project, "game" would mean game-2 once game was renamed or forgotten. */
function isBeginningOf(id: string, wanted: string): boolean {
  return wanted.includes("@") && id.toLowerCase().startsWith(wanted);
}

/** The part of an Editor's id that comes from its project's name. */
function slugIn(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf("@"))).toLowerCase();
}

// The name that a caller may have meant.

/** Behind what is wrong with the name; empty if no name is near. */
export function didYouMean(written: string, names: readonly string[]): string {
  const near = nearest(written, names);
  return near === undefined ? "" : ` (did you mean ${near}?)`;
}

export function nearest(written: string, names: readonly string[]): string | undefined {
  if (names.length === 0) return undefined;
  const byBare = new Map(names.map((name) => [bare(name), name]));
  const [wanted, known] = [bare(written.slice(0, 100)), [...byBare.keys()]];
  const within = known.filter(
    (name) => wanted.length > 2 && (name.includes(wanted) || wanted.includes(name)),
  );
  const near = closest(wanted, within.length > 0 ? within : known);
  // Half of its letters may be wrong: two that changed places are two.
  const isNear = within.length > 0 || distance(wanted, near) <= Math.max(1, Math.floor(near.length / 2));
  return isNear ? byBare.get(near) : undefined;
}

/** Without what spellings differ in: MenuItemPath, menuItemPath, menu_item_path and menu-item-path are one name. */
export function bare(name: string): string {
  return name.replaceAll(/[-_ ]/g, "").toLowerCase();
}

// A path in comparable form: on Windows either slash and any case mean the same path.

export function comparablePath(path: string): string {
  const plain = path.replaceAll("\\", "/").replace(/\/+$/, "");
  return /^[a-z]:/i.test(plain) ? plain.toLowerCase() : plain;
}
