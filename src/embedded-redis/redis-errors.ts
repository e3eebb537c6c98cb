/** The errors of finding and starting the private Redis. */
import { BrokerError } from "../shared/errors.js";

/** A way in which a server was searched, and why it failed. */
export interface Attempt {
  readonly tried: string;
  readonly because: string;
}

/**
 * This machine has no usable Redis, and none could be obtained.
 *
 * The message is for a person at a terminal: what was tried, and the one line to run on this platform.
 * Trying again without that line fails again.
 */
export function redisUnavailable(attempts: readonly Attempt[], platform: NodeJS.Platform): BrokerError {
  const tried = attempts.map((attempt) => `  - ${attempt.tried}: ${attempt.because}`);
  const remedies = installCommands(platform).map(([name, command]) => `  ${`${name}:`.padEnd(15)}${command}`);
  const lines = [
    "No Redis server was found. Tried:",
    ...tried,
    "To have one, do one of these:",
    ...remedies,
    "",
  ];
  return new BrokerError("REDIS_UNAVAILABLE", lines.join("\n"), { attempts });
}

/** The started server ended or hangs, or another program has taken its place. */
export function redisNotStarted(message: string, cause?: unknown): BrokerError {
  return new BrokerError("REDIS_START_FAILED", message, {}, cause);
}

function installCommands(platform: NodeJS.Platform): [name: string, command: string][] {
  const everywhere: [string, string][] = [
    [
      "Docker",
      "docker run -d --name unity-broker-redis -p 127.0.0.1:6379:6379 redis:7 --appendonly yes" +
        "   (then set REDIS_URL=redis://127.0.0.1:6379)",
    ],
    ["Existing Redis", "set REDIS_URL=redis://host:6379 (6.2 or newer, maxmemory-policy noeviction)"],
    ["Own binary", "set UNITY_BROKER_REDIS_BINARY to the path of a redis-server or valkey-server"],
  ];
  switch (platform) {
    case "darwin":
      return [["Homebrew", "brew install redis"], ...everywhere];
    case "win32":
      return [["winget", "winget install Memurai.MemuraiDeveloper"], ...everywhere];
    case "linux":
      return [
        ["Debian, Ubuntu", "sudo apt-get install -y redis-server"],
        ["Fedora", "sudo dnf install -y valkey"],
        ["Arch", "sudo pacman -S valkey"],
        ...everywhere,
      ];
    default:
      return everywhere;
  }
}
