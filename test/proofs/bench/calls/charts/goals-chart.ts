/** What has a goal, as a share of it: at most 1 is met. */
import { type Finding, isMet } from "../findings.js";
import type { CallsReport } from "../report.js";
import { axisText, type Chart, COLORS, frame, gridLines, INK } from "./chart.js";

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
    label: {
      ...{ show: true, position: "right" as const, fontSize: 12, color: INK },
      formatter: ({ dataIndex, value }: { dataIndex: number; value: unknown }) =>
        value === null || value === undefined ? "" : labelOf(findings[dataIndex]),
    },
  });
  return {
    name: "goals",
    width: 960,
    height: TOP_PX + BOTTOM_PX + ROW_PX * findings.length,
    option: {
      ...frame("Measured beside the goals (1 = the goal, shorter is better)", report),
      legend: { top: 62, left: 16, textStyle: axisText },
      grid: { left: 370, right: 150, top: TOP_PX, bottom: BOTTOM_PX },
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
      yAxis: {
        type: "category",
        inverse: true,
        data: findings.map(({ what }) => what),
        axisLabel: { ...axisText, interval: 0, width: 340, overflow: "break", lineHeight: 15 },
        axisTick: { show: false },
      },
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

function labelOf(finding: Finding | undefined): string {
  if (!finding) return "";
  const { value, unit, goal, isLeast } = finding;
  return `${value.toFixed(2)} ${unit} (${isLeast ? "≥" : "≤"} ${goal} ${unit})`;
}
