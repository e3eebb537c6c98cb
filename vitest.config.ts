import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/harness/global-setup.ts"],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    // Two forks: most tests start processes of their own, and the smallest machine that we support has two cores.
    pool: "forks",
    maxWorkers: 2,
    reporters: ["default"],
  },
});
