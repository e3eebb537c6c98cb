/**
 * BullMQ and ioredis, loaded as the CommonJS that they are. An `import` of CommonJS reads each of its files a second
 * time, to find the names that it exports: of these two packages that are 200 files, which every command would wait for.
 */
import { createRequire } from "node:module";
import type * as ioredis from "ioredis";

const require = createRequire(import.meta.url);

/** Loaded by the first queue or lane: a command that only reads records does without it. */
export const bullmq = (): typeof import("bullmq") => require("bullmq");

export const { Redis, SentinelConnector } = require("ioredis") as typeof ioredis;
export type Redis = ioredis.Redis;
export type SentinelConnector = ioredis.SentinelConnector;
