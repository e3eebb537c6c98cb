/** Redis on another machine: over TLS, with an authority of one's own (docs/guide/machines.md). */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defaultDirectories } from "../../../src/embedded-redis/directories.js";
import { findRedisBinary } from "../../../src/embedded-redis/package/binary.js";
import { withLibraries } from "../../../src/embedded-redis/package/package-tree.js";
import { findProgram, searchDirectories } from "../../../src/embedded-redis/run-command.js";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { freePort, serve } from "../../harness/processes/composed.js";
import { until } from "../../harness/processes/processes.js";
import { pathOf } from "../../harness/redis/compose-file.js";

const { type, start, here } = useCommandLine();

const on = (name: string): boolean =>
  findProgram([name], searchDirectories(process.env, process.platform)) !== undefined;

/** An authority, and a certificate of it for this host. */
function makeCertificates(folder: string): void {
  const openssl = (...args: string[]) => execFileSync("openssl", args, { cwd: folder, stdio: "ignore" });
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  openssl(
    "req",
    "-x509",
    ...key,
    "-keyout",
    "ca.key",
    "-out",
    "ca.crt",
    "-subj",
    "/CN=authority",
    "-days",
    "2",
  );
  openssl("req", ...key, "-keyout", "redis.key", "-out", "redis.csr", "-subj", "/CN=redis");
  writeFileSync(join(folder, "names"), "subjectAltName=IP:127.0.0.1\n");
  const signed = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2", "-extfile", "names"];
  openssl("x509", "-req", "-in", "redis.csr", ...signed, "-out", "redis.crt");
}

test.skipIf(!on("openssl"))(
  "gateway and worker speak to it; without its authority they say why not",
  async () => {
    const { folder, processes } = here();
    makeCertificates(folder);
    const binary = await findRedisBinary({
      cacheDir: defaultDirectories(process.env).cacheDir,
      env: process.env,
      say: console.log,
    });
    const port = await freePort();
    const tls = [
      "--tls-cert-file",
      "redis.crt",
      "--tls-key-file",
      "redis.key",
      "--tls-ca-cert-file",
      "ca.crt",
    ];
    const kept = ["--requirepass", "of-a-test", "--save", "", "--maxmemory-policy", "noeviction"];
    const args = ["--port", "0", "--tls-port", `${port}`, ...tls, "--tls-auth-clients", "no", ...kept];
    serve(binary.file, [...args, "--dir", folder, "--bind", "127.0.0.1"], {
      processes,
      env: withLibraries(process.env, binary.libraryPath),
      cwd: folder,
    });
    writeFileSync(join(folder, "password"), "of-a-test\n");
    const env = {
      REDIS_URL: `rediss://127.0.0.1:${port}`,
      REDIS_PASSWORD_FILE: join(folder, "password"),
      NODE_EXTRA_CA_CERTS: join(folder, "ca.crt"),
    };
    await until("Redis serves", async () => (await type(["workers"], env)).code === 0);
    const stranger = await type(["workers"], { ...env, NODE_EXTRA_CA_CERTS: "" });
    expect(stranger).toMatchObject({ code: 1, stderr: expect.stringMatching(/certificate/) });

    await start("editor", ["simulate", "--port", "0", "--ledger-folder", join(folder, "ledger")]).line(
      /^Simulated Unity Editor/,
    );
    start("worker", ["worker"], env);
    const gateway = start("gateway", ["gateway", "--port", "0", "--insecure-local"], env);
    const [, url = ""] = await gateway.line(/^MCP endpoint: (.*)$/);
    const through = { UNITY_BROKER_URL: url };
    await until("the Editor is known", async () => (await type(["tools"], through)).stdout.includes("ping"));
    expect(await type(["call", "ping", "--args", "{}"], through)).toMatchObject({ code: 0 });
  },
);

test.skipIf(!on("systemd-analyze"))("the guide's unit file is one that systemd reads", () => {
  const { folder } = here();
  const guide = readFileSync(pathOf("docs/guide/machines.md"), "utf8");
  const [, unit = ""] = /```ini\n([\s\S]*?)```/.exec(guide) ?? [];
  const file = join(folder, "unity-broker-worker.service");
  // It ends with 0 also where it has ignored a line.
  const complaints = (text: string): string => {
    writeFileSync(file, text);
    const env = { ...process.env, XDG_RUNTIME_DIR: folder };
    return spawnSync("systemd-analyze", ["--user", "verify", file], { encoding: "utf8", env }).stderr;
  };
  expect(unit).toContain("unity-broker worker");
  expect(complaints(unit)).toBe("");
  expect(complaints(unit.replace("Restart=always", "Restart=whenever"))).toContain("whenever");
});
