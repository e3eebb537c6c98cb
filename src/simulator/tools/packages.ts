/** list-packages and manage-packages: a Package Manager that finds every package but those whose name has "missing" in it. */
import { bridgeTool } from "../catalogue/bridge-tool.js";
import type { InstalledPackage, Project } from "../project.js";
import { toolFailure } from "../tool-definition.js";
import { refuseInPlayMode } from "./set-build-target.js";

const NAME = /^[a-z0-9][a-z0-9\-_]*(\.[a-z0-9\-_]+)+$/;
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z\-.]+)?$/;
const GIT = /^((git\+)?https?:\/\/\S+\.git([?#/]\S*)?|(git\+)?ssh:\/\/\S+|git:\/\/\S+|[\w.-]+@[\w.-]+:\S+)$/;

interface Wanted {
  name: string;
  version: string | undefined;
  source: InstalledPackage["source"];
  from: string | undefined;
}

export const listPackages = bridgeTool("list-packages", {
  async run({ args, world: { project } }) {
    const text = args.text("FilterText", "").toLowerCase();
    const fitting = project.packages
      .filter((one) => (args.flag("IncludeIndirect", false) || one.isDirect) && one.name.includes(text))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    const Packages = fitting
      .slice(0, args.number("MaxResults", 100))
      .map(({ name, version, source, from }) => {
        return {
          Name: name,
          Version: version,
          Source: source,
          ...(from === undefined ? {} : { From: from }),
        };
      });
    return { TotalCount: fitting.length, Packages };
  },
});

export const managePackages = bridgeTool("manage-packages", {
  simulated: {
    Seconds: { type: "number", description: "how long the Package Manager takes", minimum: 0, default: 0.1 },
    Reload: { type: "boolean", description: "reload the domain before it has ended", default: false },
  },
  async run({ args, progress, reload, wait, world }) {
    const { project } = world;
    const Action = args.text("Action");
    const wanted = readPackage(args.text("Package"));
    const before = presentPackage(project, Action, wanted);
    const isSo =
      before !== undefined && Action !== "Remove" && (wanted.version ?? before.version) === before.version;
    if (isSo && (Action === "Add" || wanted.version !== undefined))
      return {
        ...answer(Action, before, before.version, false),
        Message: "It is installed already. Update, or a version, changes it.",
      };
    refuseInPlayMode(world);
    progress({ progress: 0, total: 2, message: "The Package Manager is at work" });
    await wait(args.number("SimulatedSeconds", 0.1));
    if (wanted.name.includes("missing"))
      throw toolFailure(
        "package_failed",
        `The Package Manager refused: Package [${args.text("Package")}] cannot be found. No package was changed. Correct Package, then call again.`,
      );
    progress({ progress: 1, total: 2, message: "Unity imports and compiles" });
    project.packages = project.packages.filter((one) => one.name !== wanted.name);
    world.assetCounter += 1;
    const now = Action === "Remove" ? undefined : installed(wanted, before);
    if (now) project.packages.push(now);
    if (args.flag("SimulatedReload", false)) await reload();
    if (!now) return { ...answer(Action, { name: wanted.name }, before?.version, true) };
    const origin =
      now.from === undefined ? {} : { Message: `Its code comes from ${now.from}, from no registry.` };
    return { ...answer(Action, now, before?.version, now.version !== before?.version), ...origin };
  },
});

function answer(
  Action: string,
  now: Partial<InstalledPackage>,
  before: string | undefined,
  Changed: boolean,
): object {
  return {
    Success: true,
    Action,
    Package: now.name,
    ...(now.version === undefined ? {} : { Version: now.version }),
    ...(before === undefined ? {} : { PreviousVersion: before }),
    ...(now.source === undefined ? {} : { Source: now.source }),
    Changed,
    Undo: false,
  };
}

function installed(
  { name, version, source, from }: Wanted,
  before: InstalledPackage | undefined,
): InstalledPackage {
  const newest = before === undefined ? "1.0.0" : before.version;
  return {
    name,
    version: version ?? newest,
    source,
    isDirect: true,
    ...(from === undefined ? {} : { from }),
  };
}

function presentPackage(
  project: Project,
  action: string,
  { name, from, version }: Wanted,
): InstalledPackage | undefined {
  const present = project.packages.find((one) => one.name === name);
  if (action === "Add") return present?.isDirect ? present : undefined;
  if (from !== undefined || (action === "Remove" && version !== undefined))
    throw toolFailure(
      "invalid_arguments",
      "Package must be the name of an installed package; list-packages has them.",
    );
  if (present?.isDirect) return present;
  if (present)
    throw toolFailure(
      "package_not_direct",
      `${name} is there only because other packages need it; the project does not name it.`,
    );
  throw toolFailure("package_not_installed", `${name} is not installed. list-packages has those that are.`);
}

function readPackage(given: string): Wanted {
  const text = given.trim();
  const isFile = text.startsWith("file:");
  if (isFile || GIT.test(text))
    return {
      name: "com.simulator.foreign",
      version: undefined,
      source: isFile ? "Local" : "Git",
      from: text,
    };
  const [name = "", version, ...rest] = text.split("@");
  if (!NAME.test(name) || rest.length > 0 || (version !== undefined && !VERSION.test(version)))
    throw toolFailure(
      "invalid_arguments",
      `Package must be a name, name@version, a git URL, or file: and a path, not "${text}".`,
    );
  return { name, version, source: "Registry", from: undefined };
}
