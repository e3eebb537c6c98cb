/** The release workflow, and that of a guide, read as GitHub reads them, by GitHub's own parser; what it does is in test/system/operators/supply-chain.test.ts. */
import { tsImport } from "tsx/esm/api";
import { expect, test } from "vitest";
import { textOf } from "../../harness/packaging/files.js";

// It imports JSON in a way that Node 20 refuses, and tsx does not.
const { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } = (await tsImport(
  "@actions/workflow-parser",
  import.meta.url,
)) as typeof import("@actions/workflow-parser");

const FILE = ".github/workflows/release.yml";

async function faultsOf(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: FILE, content }, new NoOperationTraceWriter());
  // Expressions, needs and permissions are checked when it becomes a workflow.
  if (value !== undefined) await convertWorkflowTemplate(context, value);
  return context.errors.getErrors().map(({ message }) => message);
}

test("GitHub finds no fault in it", async () => {
  expect(await faultsOf(textOf(FILE))).toEqual([]);
});

test.each([
  ["a key that does not exist", "runs-on: ubuntu-24.04", "run-on: ubuntu-24.04"],
  ["a job that is not there", "needs: publish", "needs: publishing"],
  ["a permission that does not exist", "contents: write", "content: write"],
  ["an expression that is none", "{{ github.token }}", "{{ githab.token }}"],
])("and would find %s", async (_what, right, wrong) => {
  const content = textOf(FILE);
  expect(content).toContain(right);
  expect(await faultsOf(content.replace(right, wrong))).not.toEqual([]);
});

test("nor in the workflow that runs the package in a real Editor (docs/guide/real-editor.md)", async () => {
  const [, workflow = ""] = /```yaml\n([\s\S]*?)```/.exec(textOf("docs/guide/real-editor.md")) ?? [];
  expect(workflow).toContain("jobs:");
  expect(await faultsOf(workflow)).toEqual([]);
  expect(await faultsOf(workflow.replace("runs-on", "run-on"))).not.toEqual([]);
});
