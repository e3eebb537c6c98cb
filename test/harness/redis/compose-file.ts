/** docker-compose.yml and the other files of this checkout. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const pathOf = (name: string): string => fileURLToPath(new URL(`../../../${name}`, import.meta.url));
export const read = (name: string): string => readFileSync(pathOf(name), "utf8");

interface Service {
  image: string;
  build?: { context: string; args?: Record<string, string> };
  command: string[];
  environment: Record<string, string>;
  healthcheck?: { test?: string[]; disable?: boolean };
  [key: string]: unknown;
}
interface ComposeFile {
  services: Record<"redis" | "proxy" | "gateway" | "gateway-2" | "worker", Service>;
  configs: Record<"proxy", { content: string }>;
  secrets: Record<string, { file: string }>;
}

export const compose = (): ComposeFile => parse(read("docker-compose.yml")) as ComposeFile;
