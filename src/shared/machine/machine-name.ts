/**
 * A name for the running system: one boot, one pid namespace. Two processes that get the same name mean the same process by
 * the same id, so it is compared before a process id from elsewhere is looked up. Where that is not certain, there is no
 * name.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** What a system is asked; each throws where it has no answer. */
export interface SystemFacts {
  platform: NodeJS.Platform;
  pid: number;
  hostname(): string;
  read(file: string): string;
  link(file: string): string;
  run(program: string, ...args: string[]): string;
}

const HERE: SystemFacts = {
  platform: process.platform,
  pid: process.pid,
  hostname,
  read: (file) => readFileSync(file, "utf8"),
  link: readlinkSync,
  run: (program, ...args) =>
    execFileSync(program, args, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 2_000,
      windowsHide: true,
    }),
};

/** Undefined where nothing names the system for certain. */
export function machineName(facts: SystemFacts = HERE): string | undefined {
  const name = { linux: linuxName, darwin: macName, win32: windowsName }[facts.platform as string];
  try {
    return name?.(facts);
  } catch {
    return undefined;
  }
}

/** One boot of one kernel, and in it the namespaces in which process ids and their start times are counted. */
function linuxName({ pid, read, link }: SystemFacts): string | undefined {
  // Another namespace's /proc is mounted here: it lists other processes than this one can signal.
  if (link("/proc/self") !== String(pid)) return undefined;
  const boot = read("/proc/sys/kernel/random/boot_id").trim();
  if (!/^[0-9a-f-]{36}$/.test(boot)) return undefined;
  return ["linux", boot, link("/proc/self/ns/pid"), timeNamespace(link)].join(" ");
}

/** Linux before 5.6 has none. */
function timeNamespace(link: SystemFacts["link"]): string {
  try {
    return link("/proc/self/ns/time");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "time:none";
    throw error;
  }
}

/** A random id of this boot. */
function macName({ run }: SystemFacts): string | undefined {
  const boot = run("/usr/sbin/sysctl", "-n", "kern.bootsessionuuid").trim();
  return boot === "" ? undefined : `darwin ${boot}`;
}

/**
 * The id that Windows was installed with, and the host's name, since copies of an installation share the id. The boot is
 * not in it: the processes of an earlier one are dead.
 */
function windowsName({ run, hostname: host }: SystemFacts): string | undefined {
  const key = "HKLM\\SOFTWARE\\Microsoft\\Cryptography";
  const answer = run("C:\\Windows\\System32\\reg.exe", "query", key, "/v", "MachineGuid", "/reg:64");
  const id = /MachineGuid\s+REG_SZ\s+(\S+)/.exec(answer)?.[1];
  return id === undefined ? undefined : `win32 ${id} ${host()}`;
}
