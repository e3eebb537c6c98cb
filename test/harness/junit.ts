/** Reads JUnit XML with a parser and a schema of their own (libxml2), so that no mistake of the writer is repeated. */
import { readFileSync } from "node:fs";
import { memoryPages, validateXML } from "xmllint-wasm";

const SCHEMA = readFileSync(new URL("../golden/junit.xsd", import.meta.url), "utf8");

/** What is wrong with it; [] if it is a report. */
export async function faultsOfJunit(xml: string): Promise<string[]> {
  const { errors } = await validateXML({
    xml: { fileName: "report.xml", contents: xml },
    schema: { fileName: "junit.xsd", contents: SCHEMA },
    maxMemoryPages: memoryPages.GiB,
  });
  return errors.map(({ rawMessage }) => rawMessage);
}

/** The document as libxml2 writes what it has read: all on their own lines, entities resolved in one way. */
export async function canonicalXml(xml: string): Promise<string> {
  const { normalized } = await validateXML({
    xml: { fileName: "report.xml", contents: xml },
    schema: { fileName: "junit.xsd", contents: SCHEMA },
    normalization: "c14n",
    maxMemoryPages: memoryPages.GiB,
  });
  return normalized;
}
