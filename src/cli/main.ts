#!/usr/bin/env node
/** The command line: the only place that puts the parts together, and the only one that ends the process. */
import { fstatSync, writeSync } from "node:fs";
import type { Writable } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { type ArgsDef, type CommandDef, defineCommand, renderUsage, runCommand } from "citty";
import { printable } from "../shared/printable.js";
import { command, describeError } from "./command.js";
import * as asking from "./declared/asking.js";
import * as clients from "./declared/clients.js";
import * as completing from "./declared/completing.js";
import * as configuring from "./declared/configuring.js";
import * as launching from "./declared/launching.js";
import * as processes from "./declared/processes.js";
import * as running from "./declared/running.js";
import * as tokens from "./declared/tokens.js";
import { takeConfigFile } from "./environment.js";
import { VERSION } from "./version.js";

/** A command's code is loaded when it is called: a client that starts `mcp` waits for its first answer. */
const subCommands = {
  call: command(asking.call, async () => (await import("./commands/call.js")).call),
  run: command(running.run, async () => (await import("./commands/run.js")).run),
  launch: command(launching.launch, async () => (await import("./commands/launch.js")).launch),
  result: command(asking.result, async () => (await import("./commands/result.js")).result),
  fetch: command(asking.fetch, async () => (await import("./commands/fetch.js")).fetch),
  status: command(asking.status, async () => (await import("./commands/questions.js")).status),
  cancel: command(asking.cancel, async () => (await import("./commands/questions.js")).cancel),
  logs: command(asking.logs, async () => (await import("./commands/logs.js")).logs),
  list: command(asking.list, async () => (await import("./commands/questions.js")).list),
  explain: command(asking.explain, async () => (await import("./commands/questions.js")).explain),
  watch: command(asking.watch, async () => (await import("./commands/watch.js")).watch),
  editors: command(asking.editors, async () => (await import("./commands/questions.js")).editors),
  tools: command(asking.tools, async () => (await import("./commands/questions.js")).tools),
  doctor: command(asking.doctor, async () => (await import("./commands/doctor.js")).doctor),
  config: defineCommand({
    ...configuring.config,
    subCommands: {
      check: command(configuring.check, async () => (await import("./commands/config.js")).check),
      schema: command(configuring.schema, async () => (await import("./commands/config.js")).schema),
    },
  }),
  up: command(processes.up, async () => (await import("./processes/up.js")).up),
  mcp: command(processes.mcp, async () => (await import("./processes/mcp.js")).mcp),
  broker: command(processes.broker, async () => (await import("./broker/broker.js")).broker),
  gateway: command(processes.gateway, async () => (await import("./processes/gateway.js")).gateway),
  worker: command(processes.worker, async () => (await import("./processes/worker.js")).worker),
  workers: command(processes.workers, async () => (await import("./commands/editors/workers.js")).workers),
  simulate: command(processes.simulate, async () => (await import("./processes/simulate.js")).simulate),
  token: defineCommand({
    ...tokens.token,
    subCommands: {
      create: command(tokens.create, async () => (await import("./commands/token.js")).create),
      add: command(tokens.add, async () => (await import("./commands/token.js")).add),
      set: command(tokens.set, async () => (await import("./commands/token.js")).set),
      list: command(tokens.list, async () => (await import("./commands/token.js")).list),
      revoke: command(tokens.revoke, async () => (await import("./commands/token.js")).revoke),
      local: command(tokens.local, async () => (await import("./commands/token.js")).local),
    },
  }),
  down: command(processes.down, async () => (await import("./processes/down.js")).down),
  demo: command(processes.demo, async () => (await import("./commands/demo.js")).demo),
  completion: command(completing.completion, async () =>
    (await import("./commands/completion.js")).completionOf(() => main),
  ),
  install: command(clients.install, async () => (await import("./commands/install.js")).install),
  uninstall: command(clients.uninstall, async () => (await import("./commands/uninstall.js")).uninstall),
};

const main: CommandDef = defineCommand({
  meta: {
    name: "unity-broker",
    version: VERSION,
    description:
      "Runs each Unity Editor tool call once: MCP gateway, BullMQ worker, results read from job state",
  },
  args: configuring.ofEveryCommand satisfies ArgsDef as ArgsDef,
  subCommands,
});

interface Named {
  command: CommandDef;
  parent: CommandDef | undefined;
  /** The command as typed. */
  path: string;
}

/** The command that the words name, as far as they do. */
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

/** The exit code of a command whose output could not be written: sysexits' EX_IOERR, as in client/exit-codes.ts. */
const UNWRITTEN = 74;

/**
 * Answers the first failure of a write to the standard output, once there is one. A reader that went away (`| head`) wanted no more:
 * that is none. Never undone: an error without a listener would end the process.
 */
function watchOutput({ stdout, stderr }: { stdout: Writable & { fd: number }; stderr: Writable }) {
  let failure: NodeJS.ErrnoException | undefined;
  stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") failure ??= error;
  });
  // There is nowhere left to say it.
  stderr.on("error", () => undefined);
  if (fstatSync(stdout.fd).isFile()) stdout._write = wholeWrite(stdout.fd);
  return () => failure;
}

/** Node's own stream takes a write of which the disk took only a part for a whole one. */
function wholeWrite(fd: number): Writable["_write"] {
  return (chunk: Buffer, _encoding, done) => {
    try {
      for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
      done();
    } catch (error) {
      done(error as Error);
    }
  };
}

function unwritten({ message }: Error): string {
  return `the output could not be written: ${message}. What was executed is recorded: make room and type the same again.`;
}

async function run(typed: readonly string[]): Promise<number> {
  let rawArgs: string[];
  try {
    rawArgs = takeConfigFile(typed);
    // Logs are named after the command.
    process.argv.splice(2, typed.length, ...rawArgs);
  } catch (error) {
    const { message, exitCode } = describeError(error);
    console.error(`unity-broker: ${printable(message)}`);
    return exitCode;
  }
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
    const { message, exitCode } = describeError(error);
    console.error(`unity-broker: ${printable(stripVTControlCharacters(message))}`);
    if (exitCode === 2) console.error(`See \`${(await commandOf(rawArgs)).path} --help\`.`);
    return exitCode;
  }
}

const failureOfOutput = watchOutput(process);
// A command that asked the broker has set the exit code of its answer.
const exitCode = (await run(process.argv.slice(2))) || process.exitCode;
// The error of a last write comes in the next turn.
await nextTurn();
const failure = failureOfOutput();
if (failure) console.error(`unity-broker: ${unwritten(failure)}`);
process.exit(failure ? UNWRITTEN : exitCode);
