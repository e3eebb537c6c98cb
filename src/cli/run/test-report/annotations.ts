/** Failed tests as annotations of GitHub Actions: a workflow command a line, which its runner takes out of the log. */
import type { TestCase } from "./test-cases.js";

/** The page of a run shows fewer; more only fill its log. */
const MOST = 50;

export function annotationsOf(cases: readonly TestCase[]): string[] {
  const failed = cases.filter(({ result }) => result === "failed");
  const lines = failed.slice(0, MOST).map(({ fullName, message = "It failed.", file, line }) => {
    const place = [
      ...(file === undefined ? [] : [`file=${property(file)}`]),
      ...(line === undefined ? [] : [`line=${line}`]),
      `title=${property(fullName)}`,
    ];
    return `::error ${place.join(",")}::${data(message)}`;
  });
  const left = failed.length - lines.length;
  return left > 0 ? [...lines, `::error title=Tests::and ${left} more failed tests`] : lines;
}

/** A line end would begin another command. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
