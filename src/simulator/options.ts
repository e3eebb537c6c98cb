/** The options of a simulated Editor, and their defaults. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { JournalFiles } from "./ledger/journal.js";
import type { SimulatedTool } from "./tool-definition.js";

export interface SimulatedEditorOptions {
  /** The project's path; it need not exist. Default `/simulated/Simulated Project`. */
  projectPath?: string;
  unityVersion?: string;
  /** Default: slug of the project's name and a hash of machine and path. */
  editorId?: string;
  /** 0: any free port; undefined: the first free one of 8700 to 8799. A given port that is taken is an error. */
  port?: number;
  /** Default: random. */
  token?: string;
  /** Default `~/.unity-job-broker`; the three below are in it unless given. */
  stateFolder?: string;
  ledgerFolder?: string;
  endpointFolder?: string;
  counterFile?: string;
  /** Multiplies every duration of a tool: 0.01 makes a 10-minute build last 6 s. Default 1. */
  timeScale?: number;
  /** Default 1000. */
  heartbeatMs?: number;
  /** ms between two progress notifications of an operation. Default 250. */
  progressIntervalMs?: number;
  /** ms without a listener during a domain reload that a tool asked for. Default 200. */
  reloadMs?: number;
  /** Largest frame that a worker may send. Default 1 MiB. */
  maxFrameBytes?: number;
  /** Larger results are handed out by `operation/result`. Default 1 MiB. */
  inlineResultBytes?: number;
  /** Tools that the security settings refuse. */
  deniedTools?: string[];
  /** Opens the plain uLoop calls to every program that reaches the port, without any proof. Default false. */
  plainSurface?: boolean;
  /** A connection without a proof of the token is closed after this, ms. Default 2000. */
  strangerMs?: number;
  /** This long after the bound broker's connection ended (ms) another store may take over an idle Editor. Default 60 000. */
  foreignSilenceMs?: number;
  /** Acknowledged outcomes are forgotten after this (ms, default 24 h) … */
  forgetAfterMs?: number;
  /** … while more operations than this are known (default 1000). */
  keepOperations?: number;
  /** The least time between two attempts to write a ledger again that the disk refused, ms. Default 1000. */
  ledgerHealMs?: number;
  /** What the ledger's files are written with. Default: the system's. */
  ledgerFiles?: JournalFiles;
  /** Plays a plain uLoop bridge: no hello, no ledger, no endpoint file, no heartbeats. Default false. */
  plain?: boolean;
  /** The path that hello reports as the Editor's own log. */
  logFile?: string;
  /** Which pools it is in. */
  labels?: readonly string[];
  /** Tools beside the built-in ones. */
  tools?: SimulatedTool[];
}

/** The options with all defaults filled in. */
export type SimulatorSettings = Required<
  Omit<SimulatedEditorOptions, "editorId" | "port" | "token" | "stateFolder" | "logFile" | "ledgerFiles">
> &
  Pick<SimulatedEditorOptions, "logFile" | "ledgerFiles">;

export function completeOptions(options: SimulatedEditorOptions, editorId: string): SimulatorSettings {
  const state = options.stateFolder ?? join(homedir(), ".unity-job-broker");
  const ledgerFolder = options.ledgerFolder ?? join(state, "ledger", editorId);
  return {
    projectPath: options.projectPath ?? DEFAULT_PROJECT,
    unityVersion: options.unityVersion ?? DEFAULT_UNITY_VERSION,
    ledgerFolder,
    endpointFolder: options.endpointFolder ?? join(state, "editors"),
    counterFile: options.counterFile ?? join(ledgerFolder, "executions.log"),
    timeScale: options.timeScale ?? 1,
    ...(options.logFile === undefined ? {} : { logFile: options.logFile }),
    ...(options.ledgerFiles === undefined ? {} : { ledgerFiles: options.ledgerFiles }),
    ledgerHealMs: options.ledgerHealMs ?? 1000,
    heartbeatMs: options.heartbeatMs ?? 1000,
    progressIntervalMs: options.progressIntervalMs ?? 250,
    reloadMs: options.reloadMs ?? 200,
    maxFrameBytes: options.maxFrameBytes ?? 1024 * 1024,
    inlineResultBytes: options.inlineResultBytes ?? 1024 * 1024,
    deniedTools: options.deniedTools ?? [],
    plainSurface: options.plainSurface ?? false,
    strangerMs: options.strangerMs ?? 2000,
    foreignSilenceMs: options.foreignSilenceMs ?? 60_000,
    forgetAfterMs: options.forgetAfterMs ?? 24 * 3600 * 1000,
    keepOperations: options.keepOperations ?? 1000,
    plain: options.plain ?? false,
    labels: options.labels ?? [],
    tools: options.tools ?? [],
  };
}

export const DEFAULT_PROJECT = "/simulated/Simulated Project";
export const DEFAULT_UNITY_VERSION = "6000.0.30f1";
