/** The proofs in their long form. `npm test` plays a short form of each. */
export interface Proof {
  name: string;
  /** As one types it at the root of the repository. */
  command: string;
  covers: string;
}

const longForm = (...files: string[]): string => `LONG_FORM=1 npm test -- ${files.join(" ")}`;
const CHAOS = "npm run chaos -- --operations 3000 --callers 30";

export const PROOFS: readonly Proof[] = [
  {
    name: "never-twice",
    command: "npm run never-twice -- --seeds 50",
    covers: "processes killed at drawn moments: no second execution, no old answer ([more](never-twice.md))",
  },
  {
    name: "chaos, simulated Editor",
    command: `${CHAOS} --seconds 500 --fault-ms 1100 --seed 403`,
    covers: "all faults at once ([more](chaos.md))",
  },
  {
    name: "chaos, C# bridge",
    command: `${CHAOS} --seconds 1100 --fault-ms 1100 --seed 501 --editor host`,
    covers: "the same with the Editor's own ledger ([more](chaos.md))",
  },
  {
    name: "model",
    command: "npm run model -- --most 200000",
    covers: "the states of each scenario, nearest first, up to 200 000 ([more](model.md))",
  },
  {
    name: "mutations",
    command: "npm run mutations",
    covers: "each rule taken out once turns its test red ([more](mutations.md))",
  },
  {
    name: "conformance",
    command: "npm run conformance",
    covers: "the official suite of MCP, over gateway, queue, worker and Editor ([more](conformance.md))",
  },
  {
    name: "farm",
    command: "npm run farm -- --builds 300 --seed 11",
    covers:
      "builds for two pools of three Editors each, under crashes, kills and one loss of the store ([more](farm.md))",
  },
  {
    name: "load",
    command: "npm run load",
    covers:
      "50 Editors, 200 sessions, 50 calls a second for two minutes: counts and memory ([more](load.md))",
  },
  {
    name: "store and Sentinels",
    command: "npm run store-failover",
    covers:
      "the master of the store dies or hangs under load, and a replica that may lag takes over ([more](store-failover.md))",
  },
  { name: "failover", command: "npm run failover", covers: "how soon another worker takes over" },
  {
    name: "interleavings",
    command: longForm("test/proofs/interleavings.test.ts"),
    covers: "50 000 histories of the whole broker in memory",
  },
  {
    name: "broker in the background",
    command: longForm("test/system/cli/background-broker.test.ts test/system/mcp/first-contact.test.ts"),
    covers:
      "50 races of 20 clients for its start, 20 first contacts, a plain bridge's operation of 35 s that outlives its client",
  },
  {
    name: "eight clients",
    command: longForm("test/system/clients/eight-clients.test.ts"),
    covers: "a build of 60 s, three clients that read beside it, and four whose edits wait in turn",
  },
  {
    name: "growth",
    command: longForm("test/system/store/growth.test.ts"),
    covers: "4 000 operations over 20 Editors that come and go leave nothing in the store",
  },
  {
    name: "every stage",
    command: longForm(
      "test/system/operators/operators.test.ts",
      "test/system/store/durability.test.ts",
      "test/system/worker/recovery.test.ts",
    ),
    covers: "edits of the queues, faults of Redis and a frozen worker, at every stage of an operation",
  },
  {
    name: "hostile Editor",
    command: longForm("test/system/editor/hostile-editor.test.ts"),
    covers: "every lie over both wires; others are served beside an Editor that floods, p99 of 1000 calls",
  },
  {
    name: "lost keys",
    command: longForm("test/system/store/each-key.test.ts"),
    covers: "each key and each field of the store is deleted in each state of a call",
  },
  {
    name: "bad disks",
    command: longForm(
      "test/system/disks/ledger.test.ts",
      "test/system/disks/sent-log.test.ts",
      "test/system/disks/redis.test.ts",
      "test/system/disks/output.test.ts",
    ),
    covers: "each write, flush, opening and renaming fails in every way; every command without its output",
  },
  {
    name: "both Editors",
    command: longForm(
      "test/proofs/never-twice.test.ts",
      "test/proofs/cells/editor-rows.test.ts",
      "test/system/editor/editor-cells.test.ts",
      "test/system/editor/stalled-editor.test.ts",
      "test/system/security/other-user.test.ts",
      "test/system/results/result-stream.test.ts",
    ),
    covers: "the tables that `npm test` plays with the C# bridge, with the simulated Editor too",
  },
  {
    name: "everyday loop",
    command: longForm("test/system/broker/everyday-loop.test.ts"),
    covers: "edit, compile, run the tests: by every client, read in every way",
  },
  {
    name: "installations",
    command: longForm(
      "test/system/cli/commands.test.ts",
      "test/system/cli/doctor.test.ts",
      "test/system/cli/doctor-security.test.ts",
      "test/system/store/redis-kinds.test.ts",
    ),
    covers: "everything that the doctor finds, each signal, every stage on a Redis Cluster of one node",
  },
  {
    name: "fuzz",
    command: longForm("test/system/security/fuzz.test.ts"),
    covers: "two minutes of new inputs at each edge",
  },
  {
    name: "C# ledger",
    command: "LONG_FORM=1 dotnet test unity-plugin/DotNet~/Core.Tests -c Release",
    covers:
      "10 000 random lives of an Editor, a journal damaged at every byte, every disk error at every call, 100 kills",
  },
  {
    name: "Mono",
    command: "npm run mono",
    covers: "all tests of Core on Mono, as Unity runs it, with real domain reloads",
  },
];
