import type { TestRedis } from "./redis.js";

/** Not yet: every test runs on the private child process. */
export async function containerEngineAnswers(): Promise<boolean> {
  return false;
}

export async function startContainerRedis(): Promise<TestRedis> {
  throw new Error("No container engine answers.");
}
