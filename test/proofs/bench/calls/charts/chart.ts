/** What the charts have in common. */
import type { EChartsOption } from "echarts";
import type { Machine } from "../../measure/machine.js";
import type { CallsReport } from "../report.js";

export interface Chart {
  /** Of the file, without its ending. */
  name: string;
  /** For those who do not see it as well. */
  title: string;
  width: number;
  height: number;
  option: EChartsOption;
}

export const COLORS = {
  broker: "#1f6feb",
  other: "#8250df",
  floor: "#8c959f",
  met: "#2da44e",
  missed: "#d4692b",
};
export const INK = "#24292f";
const FAINT = "#d8dee4";

/** The title with the machine below it. */
export function frame(title: string, { machine, rounds }: CallsReport): EChartsOption {
  return framed(title, `${rounds} rounds on ${machineText(machine)}`);
}

export function machineText({ cores, processor, node, redis, load }: Machine): string {
  return `${cores} cores (${processor}), Node ${node}, Redis ${redis}, load ${load.toFixed(1)} before`;
}

/** A white background, whatever the page has. */
export function framed(title: string, below: string): EChartsOption {
  return {
    animation: false,
    backgroundColor: "#ffffff",
    textStyle: { fontFamily: "Helvetica, Arial, sans-serif", color: INK },
    title: {
      text: title,
      subtext: below,
      left: 16,
      top: 12,
      textStyle: { fontSize: 16, color: INK },
      subtextStyle: { fontSize: 12, color: "#57606a" },
    },
  };
}

/** Widths are estimated without the reader's font: the gap is for wider ones. */
export const legend = { top: 62, left: 16, itemGap: 36, textStyle: { color: INK, fontSize: 12 } };
export const axisText = { color: INK, fontSize: 12 };
export const gridLines = { lineStyle: { color: FAINT } };

/** Three digits at most. */
export function short(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : value.toPrecision(2);
}
