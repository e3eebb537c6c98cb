/** What has a goal, as a share of it: at most 1 is met. */
import { type Finding, isMet } from "../findings.js";
import type { CallsReport } from "../report.js";
import { axisText, type Chart, COLORS, frame, gridLines, INK, legend } from "./chart.js";

const TITLE = "Measured beside the goals (1 = the goal, shorter is better)";

const ROW_PX = 44;
const TOP_PX = 108;
const BOTTOM_PX = 60;

/** Of a goal that is a least value, the other way round. */
const shareOf = ({ value, goal, isLeast }: Finding): number => (isLeast ? goal / value : value / goal);

export function goalsChart(report: CallsReport): Chart {
  const { findings } = report;
  const shares = findings.map(shareOf);
  const bars = (name: string, color: string, met: boolean) => ({
    ...{ name, type: "bar" as const, stack: "share", barWidth: 18, itemStyle: { color } },
    data: findings.map((finding) => (isMet(finding) === met ? shareOf(finding) : null)),
  });
  return {
    name: "goals",
    title: TITLE,
    width: 960,
    height: TOP_PX + BOTTOM_PX + ROW_PX * findings.length,
    option: {
      ...frame(TITLE, report),
      legend,
      grid: { left: 390, right: 170, top: TOP_PX, bottom: BOTTOM_PX },
      xAxis: {
        type: "value",
        name: "share of the goal; for a least value: the goal as a share of what was measured",
        nameLocation: "middle",
        nameGap: 34,
        nameTextStyle: axisText,
        min: 0,
        max: Math.max(1.5, Math.ceil(Math.max(...shares))),
        axisLabel: axisText,
        splitLine: gridLines,
      },
      yAxis: [
        {
          ...categories(findings.map(({ what }) => what)),
          axisLabel: { ...axisText, interval: 0, width: 310, overflow: "break", lineHeight: 15 },
        },
        { ...categories(findings.map(labelOf)), position: "right", axisLabel: { ...axisText, interval: 0 } },
      ],
      series: [
        {
          ...bars("met", COLORS.met, true),
          markLine: {
            ...{ silent: true, symbol: "none", label: { show: false } },
            lineStyle: { color: INK, type: "dashed", width: 1.5 },
            data: [{ xAxis: 1 }],
          },
        },
        bars("missed", COLORS.missed, false),
      ],
    },
  };
}

const categories = (data: string[]) => ({
  ...{ type: "category" as const, inverse: true, data },
  ...{ axisTick: { show: false }, axisLine: { show: false } },
});

function labelOf({ value, unit, goal, isLeast }: Finding): string {
  return `${value.toFixed(2)} ${unit} (${isLeast ? "≥" : "≤"} ${goal} ${unit})`;
}
