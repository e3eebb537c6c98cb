/** docker-compose.yml and the Dockerfile, as far as that can be known without Docker. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Ajv } from "ajv";
import { describe, expect, test } from "vitest";
import { compose, pathOf, read } from "../../harness/redis/compose-file.js";

describe("the compose file", () => {
  /** Its `$schema` has an address that validators know under http only; it is draft 7. */
  const validator = () => {
    const { $schema, ...schema } = JSON.parse(
      read("test/golden/compose-spec/compose-spec.json"),
    ) as object & {
      $schema: string;
    };
    expect($schema).toContain("draft-07");
    return new Ajv({ strict: false, validateFormats: false, allErrors: true }).compile(schema);
  };

  test("follows the published schema", () => {
    const validate = validator();
    validate(compose());
    expect(validate.errors).toBeNull();
    const { services, ...rest } = compose();
    const misspelt = { ...rest, services: { ...services, redis: { ...services.redis, comand: [] } } };
    expect(validate(misspelt), "the schema notices a misspelt key").toBe(false);
  });

  test("every variable that it reads is in the example, and secrets are files", () => {
    const example = read("compose.env.example");
    const variables = [...read("docker-compose.yml").matchAll(/(?<!\$)\$\{(\w+)/g)].map(
      ([, name]) => name ?? "",
    );
    expect(variables).toContain("REDIS_PASSWORD_FILE");
    for (const name of new Set(variables)) {
      if (name !== "HOME") expect(example, name).toMatch(new RegExp(`^#?${name}=`, "m"));
    }
    expect(read(".gitignore").split("\n")).toEqual(
      expect.arrayContaining([".env", "tokens.json", "origin.key", "secrets/"]),
    );
    const { services, secrets } = compose();
    expect(Object.keys(secrets).sort()).toEqual(["origin_key", "redis_password", "tokens"]);
    for (const [name, { environment = {}, secrets: given }] of Object.entries(services)) {
      if (name !== "proxy") expect(given, name).toContain("redis_password");
      for (const [variable, value] of Object.entries(environment)) {
        if (/PASSWORD|TOKEN|KEY/.test(variable)) expect(value, variable).toMatch(/^\/run\/secrets\/\w+$/);
        expect(value, variable).not.toMatch(/:\/\/[^/]*@/);
      }
    }
    expect(services.gateway.environment.REDIS_PASSWORD_FILE).toBe("/run/secrets/redis_password");
    expect(services.worker.environment.REDIS_PASSWORD_FILE).toBe("/run/secrets/redis_password");
  });

  test("no service may write its files, has a capability, gains a privilege, or grows without end", () => {
    for (const [name, service] of Object.entries(compose().services)) {
      expect(service, name).toMatchObject({
        read_only: true,
        cap_drop: ["ALL"],
        security_opt: ["no-new-privileges:true"],
        tmpfs: ["/tmp"],
        mem_limit: expect.stringMatching(/^\$\{\w+:-\d+g\}$/),
        pids_limit: expect.any(Number),
      });
      expect(service, name).not.toHaveProperty("privileged");
      expect(service, name).not.toHaveProperty("cap_add");
      expect(service.user, name).toMatch(/^(redis|haproxy)$|^\$\{BROKER_UID/);
    }
  });

  test("every image that is fetched can be pinned by a digest", () => {
    const { redis, proxy, gateway, worker } = compose().services;
    expect(redis.image).toMatch(/^\$\{REDIS_IMAGE:-/);
    expect(proxy.image).toMatch(/^\$\{HAPROXY_IMAGE:-/);
    for (const { build } of [gateway, worker]) expect(build?.args?.NODE_IMAGE).toMatch(/^\$\{NODE_IMAGE:-/);
    const from = [...read("Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(from).toHaveLength(3);
    for (const image of from) expect(image).toMatch(/^\$\{NODE_IMAGE\}$/);
    for (const variable of ["REDIS_IMAGE", "HAPROXY_IMAGE", "NODE_IMAGE"])
      expect(read("docs/guide/operations.md")).toContain(variable);
  });

  test("gateway and worker are the image's commands, and only the gateway is asked for its health", () => {
    const { gateway, "gateway-2": second, worker, redis } = compose().services;
    expect(gateway.command).toEqual(["gateway"]);
    expect(second, "both gateways are alike").toEqual(gateway);
    expect(worker.command).toEqual(["worker"]);
    expect(worker).toMatchObject({ network_mode: "host", pid: "host", healthcheck: { disable: true } });
    expect(gateway.healthcheck, "the image's own").toBeUndefined();
    expect(redis.healthcheck?.test?.[1]).toContain("$$(cat /run/secrets/redis_password)");
    expect(worker.environment.UNITY_BROKER_ORIGIN_KEY_FILE).toBe("/run/secrets/origin_key");
    expect(worker.secrets).toEqual(["redis_password", "origin_key"]);
    expect(gateway.environment.UNITY_BROKER_TOKENS_FILE).toBe("/run/secrets/tokens");
  });
});

describe("the Dockerfile", () => {
  const lines = read("Dockerfile")
    .replaceAll(/\\\n\s*/g, " ")
    .split("\n");

  test("copies what is there, and what .dockerignore lets through", () => {
    const copied = lines
      .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
      .flatMap((line) => line.split(/\s+/).slice(1, -1));
    expect(copied.length).toBeGreaterThan(5);
    const allowed = read(".dockerignore").split("\n");
    expect(allowed).toContain("*");
    for (const name of copied) {
      expect(existsSync(pathOf(name)), name).toBe(true);
      expect(allowed, name).toContain(`!${name}`);
    }
  });

  test("runs the package's own command, as nobody special, in exec form", () => {
    const { bin, scripts } = JSON.parse(read("package.json")) as {
      bin: Record<string, string>;
      scripts: Record<string, string>;
    };
    const last = (instruction: string): string =>
      lines
        .filter((line) => line.startsWith(`${instruction} `))
        .at(-1)
        ?.slice(instruction.length + 1) ?? "";
    const [program, main] = JSON.parse(last("ENTRYPOINT")) as string[];
    expect(program).toBe("node");
    expect(main).toBe(bin["unity-broker"]);
    expect(JSON.parse(last("CMD"))).toEqual(["gateway"]);
    expect(last("USER")).toBe("node");
    expect(scripts.build).toContain("tsconfig.build.json");
    expect(last("HEALTHCHECK")).toContain("/readyz");
  });

  test("its health check tells a gateway that is ready from one that is not", async () => {
    const command =
      /CMD (\[.*\])$/.exec(lines.find((line) => line.startsWith("HEALTHCHECK")) ?? "")?.[1] ?? "[]";
    const [, ...args] = JSON.parse(command) as string[];
    let status = 200;
    const server = createHttpServer((request, response) => {
      response.writeHead(request.url === "/readyz" ? status : 404).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const port = String((server.address() as AddressInfo).port);
    const check = async (): Promise<number> => {
      const child = spawn(process.execPath, args, { env: { ...process.env, UNITY_BROKER_PORT: port } });
      return (await once(child, "exit"))[0] as number;
    };
    expect(await check()).toBe(0);
    status = 503;
    expect(await check()).toBe(1);
    server.close();
    expect(await check()).toBe(1);
  });
});
