import type { CallsReport } from "../report.js";
export async function drawCharts(folder: string, report: CallsReport): Promise<void> {
  console.log(folder, report.rounds);
}
