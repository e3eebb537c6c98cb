/** The environment of processes that outlive the command which started them, or serve others: an allowlist. */
import { SETTING_NAMES, type SettingName } from "./setting-names.js";

/**
 * A shell's environment is full of secrets (cloud keys, tokens). A process that outlives the shell would keep them
 * readable for as long as it runs.
 */
const NAMES = new Set([
  // Where programs, their libraries and this user's folders are.
  "PATH",
  "HOME",
  "TMPDIR",
  "XDG_CACHE_HOME",
  "XDG_DATA_HOME",
  "XDG_RUNTIME_DIR",
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "DYLD_FALLBACK_LIBRARY_PATH",
  // How dates and letters are written.
  "LANG",
  "LC_ALL",
  "LC_CTYPE",
  "TZ",
  // Windows starts no program without the first of these.
  "SYSTEMROOT",
  "WINDIR",
  "SYSTEMDRIVE",
  "COMSPEC",
  "PATHEXT",
  "TEMP",
  "TMP",
  "USERPROFILE",
  "LOCALAPPDATA",
  "APPDATA",
  "PROGRAMFILES",
  "PROGRAMDATA",
]);

/** What a process that obtains packages or speaks TLS needs beside its settings. */
const NETWORK = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "NODE_EXTRA_CA_CERTS"];

/** Where commands find a gateway, and what they say to it: nothing of a broker's own. */
const OF_CLIENTS: readonly SettingName[] = ["UNITY_BROKER_TOKEN", "UNITY_BROKER_URL"];

/** The settings of a broker; any other variable that looks like one is a stranger's. */
export const BROKER_SETTINGS: readonly string[] = SETTING_NAMES.filter((name) => !OF_CLIENTS.includes(name));

/** The variables of a broker in the background. */
export function brokerEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return daemonEnvironment(env, [...NETWORK, ...BROKER_SETTINGS]);
}

/** The daemon's variables, including `more`; on Windows names match in any case. */
export function daemonEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  more: readonly string[] = [],
): Record<string, string | undefined> {
  const isPassed = (name: string): boolean =>
    NAMES.has(name.toUpperCase()) || more.includes(name.toUpperCase());
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPassed(name)));
}
