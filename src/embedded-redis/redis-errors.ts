/** A way in which a server was looked for, and why it gave none. */
export interface Attempt {
  readonly tried: string;
  readonly because: string;
}

/**
 * There is no usable Redis on this machine, and none could be obtained.
 *
 * The message is written for a person at a terminal: what was tried, and the one line to run on this platform.
 * Asking again without that line gives the same answer.
 */
export class RedisUnavailableError extends Error {
  readonly code = "REDIS_UNAVAILABLE";

  constructor(
    readonly attempts: readonly Attempt[],
    platform: NodeJS.Platform,
  ) {
    const tried = attempts.map((attempt) => `  - ${attempt.tried}: ${attempt.because}`);
    const remedies = installCommands(platform).map(
      ([name, command]) => `  ${`${name}:`.padEnd(15)}${command}`,
    );
    super(
      ["No Redis server was found. Tried:", ...tried, "To have one, do one of these:", ...remedies].join(
        "\n",
      ),
    );
    this.name = "RedisUnavailableError";
  }
}

/** The started server ended, hangs, or something else stands in its place. */
export class RedisStartError extends Error {
  readonly code = "REDIS_START_FAILED";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "RedisStartError";
  }
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
