/** Downloads and unpacks Debian's packages without root. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "../directories.js";
import { type CommandResult, runCommand } from "../run-command.js";
import { hashOf, type Package } from "./package-seal.js";

const UPDATE_TIMEOUT_MS = 180_000;
const DOWNLOAD_TIMEOUT_MS = 180_000;

/** Names the system a package belongs to, since a binary of one release does not run on another. */
export function debianRelease(): string {
  const fields = new Map<string, string>();
  try {
    for (const line of readFileSync("/etc/os-release", "utf8").split("\n")) {
      const [key, value] = line.split("=", 2);
      if (key && value) fields.set(key, value.replaceAll('"', ""));
    }
  } catch {
    // Without the file the name is less exact; a binary that does not run is noticed, and fetched again.
  }
  const name = `${fields.get("ID") ?? "linux"}-${fields.get("VERSION_ID") ?? "unknown"}-${process.arch}`;
  return name.replaceAll(/[^A-Za-z0-9.-]/g, "_");
}

export interface DebianPackages {
  /** Fetched together with the packages that this system lacks for them. */
  wanted: readonly string[];
  /** All needed packages by name; only for a system whose own dependencies do not resolve. */
  otherwise?: readonly string[];
}

/**
 * Unpacks the distribution's packages, and those that this system lacks for them, below `destination`.
 *
 * Needs no root and installs nothing: apt works on private lists and a private archive, with the system's sources and
 * keys as they are, so the packages are signed like any installed one. A package that is already installed is fetched
 * all the same. Answers the package files by name and hash. Rejects with apt's message.
 */
export async function unpackDebianPackages(
  destination: string,
  packages: DebianPackages,
  options: { workDir: string; env: Environment },
): Promise<Package[]> {
  const { workDir } = options;
  const env = { ...options.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" };
  const archives = join(workDir, "archives");
  for (const directory of [join(workDir, "lists", "partial"), join(archives, "partial"), destination]) {
    mkdirSync(directory, { recursive: true });
  }
  const configuration = join(workDir, "apt.conf");
  writeFileSync(configuration, aptConfiguration(workDir));
  const apt = (timeoutMs: number, ...args: string[]) =>
    runCommand("apt-get", ["-c", configuration, "-q", ...args], { env, timeoutMs, cwd: archives });

  // Its failure alone decides nothing: a single unreachable third-party source makes it fail.
  const update = await apt(UPDATE_TIMEOUT_MS, "update");
  // A download-only install resolves exactly what this system lacks.
  const flags = ["-y", "--download-only", "--no-install-recommends", "--reinstall"];
  let download = await apt(DOWNLOAD_TIMEOUT_MS, "install", ...flags, ...packages.wanted);
  if (download.code !== 0 && packages.otherwise) {
    download = await apt(DOWNLOAD_TIMEOUT_MS, "download", ...packages.otherwise);
  }
  if (download.code !== 0) throw new Error(complaints(update, download));

  const unpacked: Package[] = [];
  for (const name of readdirSync(archives).filter((name) => name.endsWith(".deb"))) {
    const unpack = await runCommand("dpkg", ["-x", join(archives, name), destination], {
      env,
      timeoutMs: 60_000,
    });
    if (unpack.code !== 0) throw new Error(`dpkg -x ${name}: ${unpack.output}`);
    unpacked.push({ name, sha256: hashOf(join(archives, name)) });
  }
  // Of an installed package that no source has any more, apt downloads nothing, and that is no error to it.
  if (unpacked.length === 0) throw new Error(complaints(update, download));
  rmSync(workDir, { recursive: true, force: true });
  return unpacked;
}

function aptConfiguration(workDir: string): string {
  return `
Dir::State ${JSON.stringify(workDir)};
Dir::State::Lists ${JSON.stringify(join(workDir, "lists"))};
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache ${JSON.stringify(workDir)};
Dir::Cache::archives ${JSON.stringify(join(workDir, "archives"))};
// The private directories are not readable for the user _apt, to which apt switches when run as root.
APT::Sandbox::User "root";
// The system's package database is only read.
Debug::NoLocking "true";
Acquire::Languages "none";
// Hooks for the real lists (desktop catalogues, removal of the system's archive) have no business with these.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
`;
}

function complaints(...results: CommandResult[]): string {
  const lines = results.flatMap((result) => result.output.split("\n"));
  const errors = lines.filter((line) => /^(E|W|Err)[: ]/.test(line));
  return (errors.length > 0 ? errors : lines).slice(-4).join("; ") || "apt-get did not run";
}
