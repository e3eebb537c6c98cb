import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files with long tests: begun last, one of them would be alone at the end. */
const LONG = [
  "csharp",
  "background-broker",
  "commands",
  "retries",
  "call-counts",
  "hostile-editor",
  "model",
  "everyday-loop",
  "recorded-clients",
  "cli-call",
  "mutations",
  "chaos",
  "editor-host-wire",
  "editor-host-system",
  "never-twice",
  "doctor",
  "mono",
];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      LONG.some((name) => moduleId.endsWith(`/${name}.test.ts`));
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/harness/global-setup.ts"],
    setupFiles: ["test/harness/processes/long-timers.ts", "test/harness/mcp/watch-messages.ts"],
    testTimeout: 300_000,
    hookTimeout: 180_000,
    // Most tests start processes of their own and wait for them: two files more than the two cores of the smallest machine.
    pool: "forks",
    // The files of a test process share what they import; every test gives back what it opened (aftermath.ts).
    isolate: false,
    maxWorkers: 4,
    sequence: { sequencer: LongFirst },
    reporters: ["default"],
  },
});
