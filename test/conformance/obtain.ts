/** The suite, and a Node that can run it, from the npm registry into the cache: nothing of the repository depends on them. */
import { join } from "node:path";
import { newerNode, npmPackage } from "../harness/programs/npm-package.js";

export interface ObtainedSuite {
  /** The program that runs it, and its file. */
  node: string;
  file: string;
  /** What it says that a revision requires. */
  requirements: string;
}

/** Neither version of the suite starts under Node 20, where `globSync` is missing. Rejects with what npm said if the registry does not answer and the cache has none. */
export async function obtainSuite(version: string): Promise<ObtainedSuite> {
  const [node, suite] = [await newerNode(), await npmPackage("@modelcontextprotocol/conformance", version)];
  return {
    node,
    file: join(suite, "dist", "index.js"),
    requirements: join(suite, "requirements"),
  };
}
