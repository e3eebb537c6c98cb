/** Writes what a run measured as charts: SVG files, readable on a light and on a dark page. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as echarts from "echarts";
import type { CallsReport } from "../report.js";
import type { Chart } from "./chart.js";
import { goalsChart } from "./goals-chart.js";
import { latenciesChart } from "./latencies-chart.js";
import { ratesChart } from "./rates-chart.js";

export function drawCharts(folder: string, report: CallsReport): void {
  draw(folder, [latenciesChart(report), ratesChart(report), goalsChart(report)]);
}

/** Overwrites the files of an earlier run. */
export function draw(folder: string, charts: readonly Chart[]): void {
  mkdirSync(folder, { recursive: true });
  for (const { name, title, width, height, option } of charts) {
    const chart = echarts.init(null, null, { renderer: "svg", ssr: true, width, height });
    chart.setOption(option);
    const drawn = chart.renderToSVGString().replace(">", `><title>${title}</title>`);
    writeFileSync(join(folder, `${name}.svg`), `${drawn}\n`);
    chart.dispose();
  }
}
