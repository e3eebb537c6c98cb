/** The run as charts: how long calls took, and what gateway and worker held meanwhile. */
import {
  axisText,
  type Chart,
  COLORS,
  framed,
  gridLines,
  legend,
  machineText,
  short,
} from "../bench/calls/charts/chart.js";
import type { LoadReport } from "./load.js";

const subtitle = ({ machine, options }: LoadReport): string =>
  `${options.editors} Editors, ${options.sessions} sessions, ${options.perSecond} calls a second for ${options.seconds} s; ${machineText(machine)}`;

const named = (name: string) =>
  ({ name, nameLocation: "middle", nameGap: 32, nameTextStyle: axisText, axisLabel: axisText }) as const;

export function latencyChart(report: LoadReport): Chart {
  const title = "Latency of a call from the moment when it was due, by percentile";
  return {
    ...{ name: "load-latencies", title, width: 960, height: 400 },
    option: {
      ...framed(title, subtitle(report)),
      grid: { left: 80, right: 40, top: 90, bottom: 60 },
      xAxis: {
        type: "category",
        ...named("share of the calls that took at most so long"),
        data: report.latencies.map(([share]) => (share === 1 ? "all" : `${share * 100} %`)),
      },
      yAxis: { type: "log", ...named("ms, logarithmic"), nameGap: 46, min: 1, splitLine: gridLines },
      series: {
        type: "line",
        symbolSize: 9,
        itemStyle: { color: COLORS.broker },
        data: report.latencies.map(([, ms]) => ms),
        label: {
          ...{ show: true, position: "top", fontSize: 12 },
          formatter: ({ value }: { value: unknown }) => `${short(Number(value))} ms`,
        },
      },
    },
  };
}

export function memoryChart(report: LoadReport): Chart {
  const title = "Resident memory of gateway and worker under the load";
  const from = report.samples[0]?.at ?? 0;
  const line = (name: string, color: string) => ({
    ...{ name, type: "line" as const, showSymbol: false, lineStyle: { color }, itemStyle: { color } },
    data: report.samples.map(({ at, memory }) => [(at - from) / 1_000, memory[name] ?? null]),
  });
  return {
    ...{ name: "load-memory", title, width: 960, height: 400 },
    option: {
      ...framed(title, subtitle(report)),
      legend,
      grid: { left: 80, right: 40, top: 110, bottom: 60 },
      xAxis: {
        type: "value",
        ...named("s since the first call"),
        max: report.options.seconds,
        splitLine: gridLines,
      },
      yAxis: { type: "value", ...named("MB"), nameGap: 46, splitLine: gridLines },
      series: [line("gateway", COLORS.broker), line("worker", COLORS.other)],
    },
  };
}
