/** For single tests in a copy of the project, which has no plugin to build. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { include: ["test/**/*.test.ts"], testTimeout: 60_000, pool: "forks", maxWorkers: 1 },
});
