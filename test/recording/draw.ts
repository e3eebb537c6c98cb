/** Draws a recording as an SVG that is animated by CSS alone, because GitHub shows an image but runs no script. */
import type { Recording } from "./record.js";

const COLUMNS = 74;
const ROWS = 22;
const FONT = 14;
const ROW = 20;
/** Of every common monospaced font, the widest. */
const COLUMN = FONT * 0.603;
const EDGE = 16;
const BAR = 34;

/** A longer pause of the recording is cut down to this, and the title says so. */
const LONGEST_PAUSE_MS = 2_500;
/** Lines that come closer to each other than this appear together. */
const SAME_MS = 40;
/** How long the prompt stands alone, and how long the last picture stays. */
const BEFORE_MS = 500;
const AFTER_MS = 8_000;

interface Frame {
  at: number;
  rows: string[];
}

export function draw({ command, lines }: Recording): string {
  const frames: Frame[] = [{ at: 0, rows: [prompt(command)] }];
  let shownAt = BEFORE_MS;
  let printedAt = 0;
  let isShortened = false;
  for (const { at, text } of lines) {
    const pause = at - printedAt;
    if (pause > LONGEST_PAUSE_MS) isShortened = true;
    shownAt += Math.min(pause, LONGEST_PAUSE_MS);
    printedAt = at;
    const last = frames.at(-1);
    if (last && frames.length > 1 && shownAt - last.at < SAME_MS) last.rows.push(...rowsOf(text));
    else frames.push({ at: shownAt, rows: rowsOf(text) });
  }
  const seconds = Math.round((lines.at(-1)?.at ?? 0) / 1_000);
  const title = `${command}: ${seconds} s, ${isShortened ? "long pauses are shortened" : "in real time"}`;
  return page(frames, title, shownAt + AFTER_MS);
}

function page(frames: readonly Frame[], title: string, lengthMs: number): string {
  const width = Math.ceil(COLUMNS * COLUMN) + 2 * EDGE;
  const height = BAR + ROWS * ROW + EDGE;
  const percent = (at: number): string => `${((100 * at) / lengthMs).toFixed(2)}%`;
  const scrolled = (rows: number): string => `transform:translateY(${-ROW * Math.max(0, rows - ROWS)}px)`;
  const css: string[] = [];
  const scroll: string[] = [];
  const groups: string[] = [];
  let count = 0;
  frames.forEach(({ at, rows }, index) => {
    const texts = rows.map((row, place) => `<text y="${(count + place + 1) * ROW - 6}">${row}</text>`);
    groups.push(`<g class="f${index}">\n${texts.join("\n")}\n</g>`);
    count += rows.length;
    if (index === 0) {
      scroll.push(`0%{${scrolled(count)}}`);
      return;
    }
    if (count > ROWS) scroll.push(`${percent(at)}{${scrolled(count)}}`);
    css.push(`@keyframes f${index}{0%{visibility:hidden}${percent(at)}{visibility:visible}}`);
    css.push(`#all .f${index}{animation-name:f${index}}`);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${escapeXml(title)}</title>
<style>
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:${FONT}px;fill:#d1d7e0;white-space:pre;text-rendering:geometricPrecision}
.bar{fill:#9198a1;font-size:12px}
.b{font-weight:bold;fill:#fff}.d{fill:#9198a1}
.c31{fill:#ff7b72}.c32{fill:#4ae168}.c33{fill:#e3b341}.c35{fill:#d2a8ff}.c36{fill:#76e3ea}
#all{${scrolled(count)}}
/* Without animation the last picture stands. */
@media (prefers-reduced-motion:no-preference){
#all,#all g{animation:${(lengthMs / 1_000).toFixed(1)}s step-end infinite}
#all{animation-name:all}
@keyframes all{${scroll.join("")}}
${css.join("\n")}
}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#0d1117" stroke="#3d444d"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
<text class="bar" x="${width / 2}" y="21" text-anchor="middle">${escapeXml(title)}</text>
<svg x="${EDGE}" y="${BAR}" width="${width - 2 * EDGE}" height="${ROWS * ROW}">
<g id="all" xml:space="preserve">
${groups.join("\n")}
</g>
</svg>
</svg>
`;
}

function prompt(command: string): string {
  return `<tspan class="d">$</tspan> <tspan class="b">${escapeXml(command)}</tspan>`;
}

/** The classes that a code sets, and the codes that end them. */
const ENDS: Record<string, RegExp> = { "22": /^[bd]$/, "39": /^c/, "0": /^/ };
const BEGINS: Record<string, string> = { "1": "b", "2": "d" };

/** A line as marked-up rows, broken where a terminal of this width breaks it. */
function rowsOf(line: string): string[] {
  const rows: string[] = [""];
  let classes: string[] = [];
  let left = COLUMNS;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are such.
  for (const [piece, code] of line.matchAll(/\u001b\[(\d+)m|[^\u001b]+|\u001b/g)) {
    if (code !== undefined) {
      const ends = ENDS[code];
      const begun = BEGINS[code] ?? (/^3[1-6]$/.test(code) ? `c${code}` : undefined);
      if (ends) classes = classes.filter((name) => !ends.test(name));
      else if (begun) classes.push(begun);
      else throw new Error(`The drawing does not know the colour ${code}: add it to draw.ts.`);
      continue;
    }
    if (piece === "\u001b") throw new Error(`The drawing knows colours only: ${JSON.stringify(line)}`);
    let rest = [...piece];
    while (rest.length > 0) {
      if (left === 0) {
        rows.push("");
        left = COLUMNS;
      }
      const text = escapeXml(rest.slice(0, left).join(""));
      const marked = classes.length === 0 ? text : `<tspan class="${classes.join(" ")}">${text}</tspan>`;
      rows[rows.length - 1] += marked;
      const taken = Math.min(left, rest.length);
      left -= taken;
      rest = rest.slice(taken);
    }
  }
  return rows;
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
