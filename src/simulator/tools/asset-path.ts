/** Paths of assets as the bridge takes them: from the project's folder, and never out of Assets and Packages. */
import { toolFailure } from "../tool-definition.js";

export function readablePath(parameter: string, given: string): string {
  const path = given.replaceAll("\\", "/").replace(/\/+$/, "");
  if (path === "") throw toolFailure("invalid_arguments", `${parameter} is required.`);
  if (path.startsWith("/") || path.includes(":"))
    throw invalid(parameter, given, "must be a path below Assets/, not an absolute one");
  const names = path.split("/");
  if (names.some((name) => name === "" || /^\.|~$|\.meta$|[<>"|?*]/.test(name)))
    throw invalid(parameter, given, "has a name that no asset has");
  if (names[0] !== "Assets" && names[0] !== "Packages")
    throw invalid(parameter, given, "must start with Assets/");
  return path;
}

export function writablePath(parameter: string, given: string): string {
  const path = readablePath(parameter, given);
  if (path.startsWith("Assets/")) return path;
  throw invalid(parameter, given, "must be below Assets: packages are only read");
}

const invalid = (parameter: string, given: string, why: string): Error =>
  toolFailure("invalid_arguments", `${parameter} ${why}: ${given}`);
