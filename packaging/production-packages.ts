/** What an installation brings, by the lock file: the packages that the broker needs when it runs. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface ProductionPackage {
  /** Below the project's folder, such as `node_modules/bullmq`. */
  path: string;
  /** The broker runs without it; built for one system. */
  isOptional: boolean;
}

interface Locked {
  dev?: boolean;
  devOptional?: boolean;
  optional?: boolean;
}

/** Those that are installed in this project's folder. */
export function productionPackages(project: string): ProductionPackage[] {
  const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as {
    packages: Record<string, Locked>;
  };
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== "" && !dev && !devOptional)
    .filter(([path]) => existsSync(join(project, path)))
    .map(([path, { optional }]) => ({ path, isOptional: optional === true }));
}
