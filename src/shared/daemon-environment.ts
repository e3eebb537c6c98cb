/** The environment of processes that outlive the command which started them, or serve others: an allowlist. */
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

/** The daemon's variables, including `more`; on Windows names match in any case. */
export function daemonEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  more: readonly string[] = [],
): Record<string, string | undefined> {
  const isPassed = (name: string): boolean =>
    NAMES.has(name.toUpperCase()) || more.includes(name.toUpperCase());
  return Object.fromEntries(Object.entries(env).filter(([name]) => isPassed(name)));
}
