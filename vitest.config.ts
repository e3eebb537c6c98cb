import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Small files with long tests: begun last, one of them would be alone at the end. */
const LONG = [
  "csharp",
  "mutations",
  "chaos",
  "editor-host-wire",
  "editor-host-system",
  "never-twice",
  "doctor",
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
    setupFiles: ["test/harness/watch-messages.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Most tests start processes of their own and wait for them: one file more than the two cores of the smallest machine.
    pool: "forks",
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    reporters: ["default"],
  },
});
