import { describe, expect, test } from "vitest";
import { machineName, type SystemFacts } from "../../../../src/shared/machine/machine-name.js";

const BOOT = "7273961e-2040-41fe-8eb8-0306866950ea";

function missing(name: string): never {
  throw Object.assign(new Error(`no ${name}`), { code: "ENOENT" });
}

/** A system that answers only what is given. */
function system(
  platform: string,
  given: { files?: Record<string, string>; links?: Record<string, string>; answer?: string; host?: string },
): SystemFacts {
  return {
    platform: platform as NodeJS.Platform,
    pid: 17,
    hostname: () => given.host ?? "host",
    read: (file) => given.files?.[file] ?? missing(file),
    link: (file) => given.links?.[file] ?? missing(file),
    run: (program) => given.answer ?? missing(program),
  };
}

const files = { "/proc/sys/kernel/random/boot_id": `${BOOT}\n` };
const links = { "/proc/self": "17", "/proc/self/ns/pid": "pid:[1]", "/proc/self/ns/time": "time:[1]" };
const linux = (changed: { files?: Record<string, string>; links?: Record<string, string> } = {}) =>
  machineName(system("linux", { files, links, ...changed }));

describe("on Linux", () => {
  test("is one boot, with the namespaces of processes and of time", () => {
    const others = [
      linux({ files: { "/proc/sys/kernel/random/boot_id": BOOT.replace("7", "8") } }),
      linux({ links: { ...links, "/proc/self/ns/pid": "pid:[2]" } }),
      linux({ links: { ...links, "/proc/self/ns/time": "time:[2]" } }),
    ];
    expect(linux()).toContain(BOOT);
    expect(linux()).toBe(linux());
    expect(new Set([linux(), ...others]).size).toBe(4);
    expect(others).not.toContain(undefined);
  });

  test("an older kernel has no time namespaces", () => {
    const { "/proc/self/ns/time": _, ...older } = links;
    expect(linux({ links: older })).toContain(BOOT);
  });

  test.each([
    ["a /proc of another namespace", { links: { ...links, "/proc/self": "18" } }],
    ["no /proc", { links: {} }],
    ["no boot id", { files: {} }],
    ["an empty boot id", { files: { "/proc/sys/kernel/random/boot_id": "\n" } }],
    ["no process namespace", { links: { "/proc/self": "17" } }],
  ])("%s: no name", (_, changed) => {
    expect(linux(changed)).toBeUndefined();
  });
});

describe("elsewhere", () => {
  test("macOS has an id of each boot", () => {
    expect(machineName(system("darwin", { answer: "6F9619FF\n" }))).toBe("darwin 6F9619FF");
    expect(machineName(system("darwin", { answer: "\n" }))).toBeUndefined();
    expect(machineName(system("darwin", {}))).toBeUndefined();
  });

  test("Windows has an id of the installation, which copies of it share", () => {
    const answer = "\r\nHKEY_LOCAL_MACHINE\\…\r\n    MachineGuid    REG_SZ    0d9a\r\n\r\n";
    expect(machineName(system("win32", { answer, host: "a" }))).toBe("win32 0d9a a");
    expect(machineName(system("win32", { answer, host: "b" }))).toBe("win32 0d9a b");
    expect(machineName(system("win32", { answer: "ERROR" }))).toBeUndefined();
  });

  test("any other system has no name", () => {
    expect(machineName(system("freebsd", { files, links, answer: "x" }))).toBeUndefined();
  });
});

test.runIf(process.platform === "linux")("this machine has a name", () => {
  expect(machineName()).toBe(machineName());
  expect(machineName()).toMatch(/^linux [0-9a-f-]{36} pid:\[\d+\] time:/);
});
