#!/usr/bin/env node
/** The command line: the only place that puts the parts together, and the only one that ends the process. */
import { stripVTControlCharacters } from "node:util";
import { type CommandDef, defineCommand, renderUsage, runCommand } from "citty";
import { printable } from "../shared/printable.js";
import { explain } from "./command.js";
import { VERSION } from "./version.js";

/** Each is loaded when it is called: a client that starts `mcp` waits for its first answer. */
const subCommands = {
  call: async () => (await import("./call.js")).call,
  result: async () => (await import("./result.js")).result,
  fetch: async () => (await import("./fetch.js")).fetch,
  status: async () => (await import("./questions.js")).status,
  cancel: async () => (await import("./questions.js")).cancel,
  list: async () => (await import("./questions.js")).list,
  explain: async () => (await import("./questions.js")).explain,
  editors: async () => (await import("./questions.js")).editors,
  tools: async () => (await import("./questions.js")).tools,
  doctor: async () => (await import("./doctor.js")).doctor,
  up: async () => (await import("./up.js")).up,
  mcp: async () => (await import("./mcp.js")).mcp,
  gateway: async () => (await import("./gateway.js")).gateway,
  worker: async () => (await import("./worker.js")).worker,
  simulate: async () => (await import("./simulate.js")).simulate,
  token: async () => (await import("./token.js")).token,
  down: async () => (await import("./down.js")).down,
  demo: async () => (await import("./demo.js")).demo,
  install: async () => (await import("./install.js")).install,
  uninstall: async () => (await import("./uninstall.js")).uninstall,
};

const main = defineCommand({
  meta: {
    name: "unity-broker",
    version: VERSION,
    description:
      "Runs each Unity Editor tool call once: MCP gateway, BullMQ worker, results read from job state",
  },
  subCommands,
});

interface Named {
  command: CommandDef;
  parent: CommandDef | undefined;
  /** As it is typed. */
  path: string;
}

/** The command that the words name, as far as they name one. */
async function commandOf(words: readonly string[]): Promise<Named> {
  let command: CommandDef = main;
  let parent: CommandDef | undefined;
  let path = "unity-broker";
  for (const word of words) {
    const known =
      (await (typeof command.subCommands === "function" ? command.subCommands() : command.subCommands)) ?? {};
    const next = Object.hasOwn(known, word) ? known[word] : undefined;
    if (!next) break;
    parent = { meta: { name: path } };
    path += ` ${word}`;
    command = await (typeof next === "function" ? next() : next);
  }
  return { command, parent, path };
}

async function run(rawArgs: string[]): Promise<number> {
  if (rawArgs.includes("--version")) {
    console.log(VERSION);
    return 0;
  }
  if (rawArgs.length === 0 || rawArgs.includes("--help") || rawArgs.includes("-h")) {
    const { command, parent } = await commandOf(rawArgs);
    const usage = await renderUsage(command, parent);
    console.log(process.stdout.isTTY ? usage : stripVTControlCharacters(usage));
    return 0;
  }
  try {
    await runCommand(main, { rawArgs });
    return 0;
  } catch (error) {
    const { message, exitCode } = explain(error);
    console.error(`unity-broker: ${printable(stripVTControlCharacters(message))}`);
    if (exitCode === 2) console.error(`See \`${(await commandOf(rawArgs)).path} --help\`.`);
    return exitCode;
  }
}

// A command that asked the broker has set the exit code that its answer deserves.
process.exit((await run(process.argv.slice(2))) || process.exitCode);
