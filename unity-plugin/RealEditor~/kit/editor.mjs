/** An Editor with the kit's project: opened by `unity-broker launch`, which finds the Unity of the project's version. */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const KIT = fileURLToPath(new URL("..", import.meta.url));
const QUIT_MS = 120_000;

/** Which version of the test framework this Unity takes and compiles; null if it brings its own, as a core package. */
function testFrameworkOf(version) {
  const known = JSON.parse(readFileSync(join(KIT, "kit", "test-frameworks.json"), "utf8"));
  const [major, minor] = version.split(".").map(Number);
  const isReached = (from) => {
    const [first, second] = from.split(".").map(Number);
    return major > first || (major === first && minor >= second);
  };
  const [newest = Object.keys(known)[0]] = Object.keys(known).filter(isReached).slice(-1);
  return known[newest];
}

/** A copy of the project for this version in `folder`; its manifest names the package by the way from there. */
export function prepareProject(version, folder = KIT) {
  const path = join(folder, `work-${version}`);
  rmSync(path, { recursive: true, force: true });
  cpSync(join(KIT, "Project"), path, { recursive: true });
  writeFileSync(join(path, "ProjectSettings", "ProjectVersion.txt"), `m_EditorVersion: ${version}\n`);
  const manifest = join(path, "Packages", "manifest.json");
  const content = JSON.parse(readFileSync(manifest, "utf8"));
  const way = relative(dirname(manifest), join(KIT, "..")).replaceAll("\\", "/");
  content.dependencies["org.jobbroker.unity-bridge"] = `file:${way}`;
  const framework = testFrameworkOf(version);
  if (framework !== null) content.dependencies["com.unity.test-framework"] = framework;
  writeFileSync(manifest, `${JSON.stringify(content, null, 2)}\n`);
  return {
    path,
    write: (file, text) => writeFileSync(join(path, file), text),
    remove: (file) => rmSync(join(path, file), { force: true }),
    read: (file) => (existsSync(join(path, file)) ? readFileSync(join(path, file), "utf8") : undefined),
  };
}

/** Rejects with what `launch` said if no Editor came. */
export async function openEditor(broker, project, mode, unity) {
  const batch = ["--batch", "--allow", "tests,menu-items,play-mode,scenes"];
  const launched = await broker.type(
    [
      ...["launch", project.path, "--json", "--timeout", "20m"],
      ...(mode === "batch" ? batch : []),
      ...(unity === undefined ? [] : ["--unity", unity]),
      ...(mode === "batch" ? ["--", "-nographics"] : []),
    ],
    25 * 60_000,
  );
  const { editor, pid, log, unity_version: unityVersion, message } = launched.answer ?? {};
  if (launched.code !== 0 || editor === undefined) throw new Error(message ?? launched.said);
  broker.use(editor);
  return {
    id: editor,
    pid,
    unityVersion,
    log: () => (log !== undefined && existsSync(log) ? readFileSync(log, "utf8") : ""),
    isAlive: () => isAlive(pid),
    /** By its menu, else by a signal. Answers whether the menu was enough. */
    async end(byMenu) {
      const asked = byMenu ? await broker.call("execute-menu-item", { MenuItemPath: "Kit/Quit" }) : undefined;
      const quit = asked?.answer?.status === "completed" && (await gone(pid, QUIT_MS));
      if (!quit && isAlive(pid)) process.kill(pid);
      if (!quit) await gone(pid, QUIT_MS);
      return quit;
    },
  };
}

async function gone(pid, limitMs) {
  const until = performance.now() + limitMs;
  while (isAlive(pid) && performance.now() < until) await new Promise((resolve) => setTimeout(resolve, 200));
  return !isAlive(pid);
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
