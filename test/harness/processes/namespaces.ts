/** Network namespaces that stand for machines: each with its own loopback, joined by a bridge that this machine is on too. */
import { spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";

export interface Machine {
  readonly address: string;
  /** To put before a command that is to run there. */
  readonly within: readonly string[];
  /** Its link to all others. */
  unplug(): void;
  plug(): void;
}

export interface Network {
  machines: readonly Machine[];
  /** Of this machine. */
  address: string;
  remove(): void;
}

/** `missing` says why there can be none: another system, no root, or a container without the right to. */
export function layNetwork(count: number): Network | { missing: string } {
  if (process.platform !== "linux") return { missing: "only Linux has network namespaces" };
  if (process.getuid?.() !== 0) return { missing: "only root may make network namespaces" };
  const id = `ujb${randomInt(0x1000, 0x10000).toString(16)}`;
  const net = `10.213.${randomInt(1, 255)}`;
  const bridge = `${id}-br`;
  const names = Array.from({ length: count }, (_, at) => `${id}-${at}`);
  const remove = (): void => {
    for (const name of names) {
      tried("netns", "del", name);
      // Where a process is left in it, its link is too.
      tried("link", "del", `${name}v`);
    }
    tried("link", "del", bridge);
  };
  const wanted = [
    ["link", "add", bridge, "type", "bridge"],
    ["addr", "add", `${net}.1/24`, "dev", bridge],
    ["link", "set", bridge, "up"],
    ...names.flatMap((name, at) => [
      ["netns", "add", name],
      ["link", "add", `${name}v`, "type", "veth", "peer", "name", "eth0", "netns", name],
      ["link", "set", `${name}v`, "master", bridge, "up"],
      ["-n", name, "addr", "add", `${net}.${at + 2}/24`, "dev", "eth0"],
      ["-n", name, "link", "set", "eth0", "up"],
      ["-n", name, "link", "set", "lo", "up"],
    ]),
  ];
  for (const command of wanted) {
    const why = tried(...command);
    if (why === undefined) continue;
    remove();
    return { missing: `ip ${command.join(" ")}: ${why}` };
  }
  const set = (name: string, to: "up" | "down"): void => {
    const why = tried("link", "set", `${name}v`, to);
    if (why !== undefined) throw new Error(`${name} ${to}: ${why}`);
  };
  return {
    machines: names.map((name, at) => ({
      address: `${net}.${at + 2}`,
      within: ["ip", "netns", "exec", name],
      unplug: () => set(name, "down"),
      plug: () => set(name, "up"),
    })),
    address: `${net}.1`,
    remove,
  };
}

/** Undefined: done. */
function tried(...command: string[]): string | undefined {
  const { status, stderr, error } = spawnSync("ip", command, { encoding: "utf8" });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
}
