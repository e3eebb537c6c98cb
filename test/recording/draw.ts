/** Draws a recording as an SVG that is animated by CSS alone, because GitHub shows an image but runs no script. */
import type { Recording } from "./record.js";
import { group, prompt, ROW, rowsOf, windowOf } from "./window.js";

const COLUMNS = 74;
const ROWS = 22;

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
    if (last && frames.length > 1 && shownAt - last.at < SAME_MS) last.rows.push(...rowsOf(text, COLUMNS));
    else frames.push({ at: shownAt, rows: rowsOf(text, COLUMNS) });
  }
  const seconds = Math.round((lines.at(-1)?.at ?? 0) / 1_000);
  const title = `${command}: ${seconds} s, ${isShortened ? "long pauses are shortened" : "in real time"}`;
  return page(frames, title, shownAt + AFTER_MS);
}

function page(frames: readonly Frame[], title: string, lengthMs: number): string {
  const percent = (at: number): string => `${((100 * at) / lengthMs).toFixed(2)}%`;
  const scrolled = (rows: number): string => `transform:translateY(${-ROW * Math.max(0, rows - ROWS)}px)`;
  const css: string[] = [];
  const scroll: string[] = [];
  const groups: string[] = [];
  let count = 0;
  frames.forEach(({ at, rows }, index) => {
    groups.push(group(`f${index}`, rows, count));
    count += rows.length;
    if (index === 0) {
      scroll.push(`0%{${scrolled(count)}}`);
      return;
    }
    if (count > ROWS) scroll.push(`${percent(at)}{${scrolled(count)}}`);
    css.push(`@keyframes f${index}{0%{visibility:hidden}${percent(at)}{visibility:visible}}`);
    css.push(`#all .f${index}{animation-name:f${index}}`);
  });
  const moves = `#all{${scrolled(count)}}
/* Without animation the last picture stands. */
@media (prefers-reduced-motion:no-preference){
#all,#all g{animation:${(lengthMs / 1_000).toFixed(1)}s step-end infinite}
#all{animation-name:all}
@keyframes all{${scroll.join("")}}
${css.join("\n")}
}
`;
  return windowOf(title, { columns: COLUMNS, rows: ROWS }, { css: moves, groups });
}
