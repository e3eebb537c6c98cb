/** Rows with one call at a time: from the median to the 99th of 100 calls, beside the floors. */
import type { CallsReport, CallsRow } from "../report.js";
import { axisText, type Chart, COLORS, frame, gridLines, legend, short } from "./chart.js";

const TITLE = "One call at a time: median and 99th of 100 calls";

const ROW_PX = 30;
const TOP_PX = 108;
const BOTTOM_PX = 56;

export function latenciesChart(report: CallsReport): Chart {
  const rows = report.rows.filter(({ inFlight }) => inFlight === 1).toSorted((a, b) => a.p50 - b.p50);
  const colorOf = ({ isFloor }: CallsRow): string => (isFloor ? COLORS.floor : COLORS.broker);
  const points = (of: "p50" | "p99", isFloor: boolean) =>
    rows.flatMap((row, at) => (row.isFloor === isFloor ? [[row[of] / 1_000, at]] : []));
  const label = (position: "left" | "right") => ({
    ...{ show: true, position, distance: 6, fontSize: 11 },
    formatter: ({ value }: { value: unknown }) => short(Number((value as number[])[0])),
  });
  const series = (name: string, isFloor: boolean) => {
    const color = isFloor ? COLORS.floor : COLORS.broker;
    return [
      {
        ...{ name: `${name}: p50`, type: "scatter" as const, symbol: "circle", symbolSize: 10 },
        ...{ data: points("p50", isFloor), itemStyle: { color }, label: label("left") },
      },
      {
        ...{ name: `${name}: p99`, type: "scatter" as const, symbol: "emptyCircle", symbolSize: 9 },
        ...{ data: points("p99", isFloor), itemStyle: { color }, label: label("right") },
      },
    ];
  };
  const all = rows.flatMap(({ p50, p99 }) => [p50 / 1_000, p99 / 1_000]);
  return {
    name: "latencies",
    title: TITLE,
    width: 960,
    height: TOP_PX + BOTTOM_PX + ROW_PX * rows.length,
    option: {
      ...frame(TITLE, report),
      legend,
      grid: { left: 300, right: 60, top: TOP_PX, bottom: BOTTOM_PX },
      xAxis: {
        type: "log",
        name: "ms, logarithmic",
        nameLocation: "middle",
        nameGap: 30,
        nameTextStyle: axisText,
        // Room for the labels beside the outermost points.
        min: 10 ** Math.floor(Math.log10(Math.min(...all) / 1.5)),
        max: 10 ** Math.ceil(Math.log10(Math.max(...all) * 1.5)),
        axisLabel: { ...axisText, formatter: (value: number) => `${value}` },
        splitLine: gridLines,
      },
      yAxis: {
        type: "category",
        inverse: true,
        data: rows.map(({ title }) => title),
        axisLabel: { ...axisText, interval: 0 },
        axisTick: { show: false },
      },
      series: [
        {
          type: "lines",
          coordinateSystem: "cartesian2d",
          silent: true,
          data: rows.map((row, at) => ({
            coords: [
              [row.p50 / 1_000, at],
              [row.p99 / 1_000, at],
            ],
            lineStyle: { color: colorOf(row), width: 3, opacity: 0.35 },
          })),
        },
        ...series("Unity Job Broker", false),
        ...series("without the broker", true),
      ],
    },
  };
}
