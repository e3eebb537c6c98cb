/** A terminal's window as SVG: its frame, its colours, and its rows as marked-up text. */

const FONT = 14;
export const ROW = 20;
/** Of every common monospaced font, the widest. */
const COLUMN = FONT * 0.603;
const EDGE = 16;
const BAR = 34;

export interface Size {
  columns: number;
  rows: number;
}

/** `css`: further rules, by which the rows move. */
export function windowOf(
  title: string,
  { columns, rows }: Size,
  { css = "", groups }: { css?: string; groups: readonly string[] },
): string {
  const width = Math.ceil(columns * COLUMN) + 2 * EDGE;
  const height = BAR + rows * ROW + EDGE;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title">
<title id="title">${escapeXml(title)}</title>
<style>
text{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:${FONT}px;fill:#d1d7e0;white-space:pre;text-rendering:geometricPrecision}
.bar{fill:#9198a1;font-size:12px}
.b{font-weight:bold;fill:#fff}.d{fill:#9198a1}
.c31{fill:#ff7b72}.c32{fill:#4ae168}.c33{fill:#e3b341}.c35{fill:#d2a8ff}.c36{fill:#76e3ea}
${css}</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8" fill="#0d1117" stroke="#3d444d"/>
<circle cx="20" cy="17" r="5" fill="#ff5f57"/><circle cx="38" cy="17" r="5" fill="#febc2e"/><circle cx="56" cy="17" r="5" fill="#28c840"/>
<text class="bar" x="${width / 2}" y="21" text-anchor="middle">${escapeXml(title)}</text>
<svg x="${EDGE}" y="${BAR}" width="${width - 2 * EDGE}" height="${rows * ROW}">
<g id="all" xml:space="preserve">
${groups.join("\n")}
</g>
</svg>
</svg>
`;
}

/** `above`: how many rows come before. */
export function group(name: string, rows: readonly string[], above: number): string {
  const texts = rows.map((row, place) => `<text y="${(above + place + 1) * ROW - 6}">${row}</text>`);
  return `<g class="${name}">\n${texts.join("\n")}\n</g>`;
}

export function prompt(command: string): string {
  return `<tspan class="d">$</tspan> <tspan class="b">${escapeXml(command)}</tspan>`;
}

/** The classes that a code sets, and the codes that end them. */
const ENDS: Record<string, RegExp> = { "22": /^[bd]$/, "39": /^c/, "0": /^/ };
const BEGINS: Record<string, string> = { "1": "b", "2": "d" };

/** A line as marked-up rows, broken where a terminal of this width breaks it. */
export function rowsOf(line: string, columns: number): string[] {
  const rows: string[] = [""];
  let classes: string[] = [];
  let left = columns;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are such.
  for (const [piece, code] of line.matchAll(/\u001b\[(\d+)m|[^\u001b]+|\u001b/g)) {
    if (code !== undefined) {
      const ends = ENDS[code];
      const begun = BEGINS[code] ?? (/^3[1-6]$/.test(code) ? `c${code}` : undefined);
      if (ends) classes = classes.filter((name) => !ends.test(name));
      else if (begun) classes.push(begun);
      else throw new Error(`The drawing does not know the colour ${code}: add it to window.ts.`);
      continue;
    }
    if (piece === "\u001b") throw new Error(`The drawing knows colours only: ${JSON.stringify(line)}`);
    let rest = [...piece];
    while (rest.length > 0) {
      if (left === 0) {
        rows.push("");
        left = columns;
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
