/** Calls a second by how many are open at a time, beside bare BullMQ. */
import type { CallsReport } from "../report.js";
import { axisText, type Chart, COLORS, frame, gridLines, legend, short } from "./chart.js";

const TITLE = "Calls a second on one Editor, by how many are open at a time";

const OPEN = [1, 4, 16, 100];

/** The rows of each series, by how many calls are open. */
const SERIES: readonly { name: string; color: string; rows: Readonly<Record<number, string>> }[] = [
  {
    name: "callers of one client",
    color: COLORS.broker,
    rows: { 1: "call", 4: "few", 16: "many", 100: "crowd" },
  },
  {
    name: "clients, one call at a time each",
    color: COLORS.other,
    rows: { 1: "call", 4: "clients-4", 16: "clients-16" },
  },
  {
    name: "bare BullMQ, its worker one at a time",
    color: COLORS.floor,
    rows: { 1: "bare", 16: "bare-many" },
  },
];

export function ratesChart(report: CallsReport): Chart {
  const rateOf = (key: string | undefined): number | null =>
    report.rows.find((row) => row.key === key)?.perSecond ?? null;
  return {
    name: "rates",
    title: TITLE,
    width: 960,
    height: 440,
    option: {
      ...frame(TITLE, report),
      legend,
      grid: { left: 80, right: 30, top: 118, bottom: 60 },
      xAxis: {
        type: "category",
        name: "calls that are open at a time",
        nameLocation: "middle",
        nameGap: 34,
        nameTextStyle: axisText,
        data: OPEN.map(String),
        axisLabel: axisText,
        axisTick: { show: false },
      },
      yAxis: {
        type: "value",
        name: "calls a second",
        nameTextStyle: { ...axisText, align: "left" },
        axisLabel: axisText,
        splitLine: gridLines,
      },
      series: SERIES.map(({ name, color, rows }) => ({
        ...{ name, type: "bar", barMaxWidth: 56, itemStyle: { color } },
        data: OPEN.map((open) => rateOf(rows[open])),
        label: {
          ...{ show: true, position: "top", fontSize: 11 },
          formatter: ({ value }: { value: unknown }) => (value === null ? "" : short(Number(value))),
        },
      })),
    },
  };
}
