/** Times and sizes as people read them. Pure. */

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];

/** At most two units: 840 ms, 6.2 s, 4 min 10 s, 3 h 5 min, 2 d 4 h. */
export function duration(ms: number): string {
  if (ms < 0) return "0 ms";
  // What would be rounded up to the next unit is told in that.
  if (ms < SECOND - 0.5) return `${Math.round(ms)} ms`;
  if (ms < 9.95 * SECOND) return `${(ms / SECOND).toFixed(1)} s`;
  if (ms < MINUTE - SECOND / 2) return `${Math.round(ms / SECOND)} s`;
  if (ms < HOUR - SECOND / 2) return two(ms, MINUTE, "min", SECOND, "s");
  if (ms < DAY - MINUTE / 2) return two(ms, HOUR, "h", MINUTE, "min");
  return two(ms, DAY, "d", HOUR, "h");
}

function two(ms: number, large: number, name: string, small: number, smallName: string): string {
  const rounded = Math.round(ms / small) * small;
  const rest = Math.round((rounded % large) / small);
  const whole = Math.floor(rounded / large);
  return rest === 0 ? `${whole} ${name}` : `${whole} ${name} ${rest} ${smallName}`;
}

/** How long ago, in one unit: it is read at a glance, and changes seldom. */
export function age(ms: number): string {
  if (ms < 5 * SECOND) return "just now";
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s ago`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ago`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h ago`;
  return `${Math.floor(ms / DAY)} d ago`;
}

const pad = (value: number, digits = 2): string => String(value).padStart(digits, "0");

/** 14:03:22, in the reader's own time zone. */
export function clock(at: number | string, withMs = false): string {
  const date = new Date(at);
  const text = `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}`;
  return withMs ? `${text}.${pad(date.getMilliseconds(), 3)}` : text;
}

/** 2027-01-31 14:03:22 */
export function moment(at: number | string): string {
  const date = new Date(at);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${clock(at)}`;
}

export function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A part of a whole, percent; undefined if the whole is not known. */
export function percent(progress: { progress: number; total?: number } | undefined): number | undefined {
  if (!progress?.total || progress.total <= 0) return undefined;
  return Math.min(100, Math.max(0, Math.round((100 * progress.progress) / progress.total)));
}

/** my-game of my-game@1f2e3d4c, and the rest: the first is what people say. */
export function idParts(id: string): { name: string; rest: string } {
  const at = id.lastIndexOf("@");
  return at <= 0 ? { name: id, rest: "" } : { name: id.slice(0, at), rest: id.slice(at) };
}
