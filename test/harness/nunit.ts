/** Reads NUnit 3 XML by a schema (libxml2), and as a tool that others use for it does. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ITestResult, parse } from "test-results-parser";
import { memoryPages, validateXML } from "xmllint-wasm";

const SCHEMA = readFileSync(new URL("../golden/nunit3.xsd", import.meta.url), "utf8");

/** What is wrong with it; [] if it is a report. */
export async function faultsOfNunit(xml: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: { fileName: "report.xml", contents: xml },
    schema: { fileName: "nunit3.xsd", contents: SCHEMA },
    maxMemoryPages: memoryPages.GiB,
  });
  return errors.map(({ rawMessage }) => rawMessage);
}

/** As an independent reader understands it. */
export function readNunit(xml: string): ITestResult {
  const folder = mkdtempSync(join(tmpdir(), "ujb-nunit-"));
  try {
    const file = join(folder, "report.xml");
    writeFileSync(file, xml);
    return parse({ type: "nunit", files: [file] });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
