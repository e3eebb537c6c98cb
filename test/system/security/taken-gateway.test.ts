/** Another user of this machine has taken the gateway's port, and answers as a gateway does. */
import { expect, test } from "vitest";
import { useCommandLine } from "../../harness/processes/command-line.js";
import { noOtherUser, start, type Who } from "../../harness/processes/other-user.js";

const { type, closeLater } = useCommandLine();

/** Says its port, and then what each request has as its authorization. */
async function answerAsGateway(node: NodeJS.Require): Promise<never> {
  const { createServer } = node("node:http") as typeof import("node:http");
  const server = createServer(({ headers }, answer) => {
    console.log(headers.authorization ?? "none");
    answer.end('{"status":"ok"}');
  });
  server.listen(0, "127.0.0.1", () => console.log((server.address() as import("node:net").AddressInfo).port));
  return new Promise(() => undefined);
}

test.skipIf(noOtherUser !== undefined)(
  "the doctor gives this user's token to its own gateway only",
  async () => {
    const token = (await type(["token", "local"])).stdout.trim();
    const asked = async (who: Who) => {
      const gateway = start(who, answerAsGateway, undefined);
      closeLater(gateway.kill);
      const port = await gateway.line();
      const { stdout } = await type(["doctor"], { UNITY_BROKER_PORT: port });
      // So that the last line is this one's.
      await fetch(`http://127.0.0.1:${port}`, { headers: { authorization: "the end" } });
      const heard: string[] = [];
      for (let line = await gateway.line(); line !== "the end"; line = await gateway.line()) heard.push(line);
      return { heard, said: /^. gateway +(.*)$/m.exec(stdout)?.[1] };
    };
    const own = await asked("owner");
    expect(own.heard).toEqual(["none", `Bearer ${token}`]);
    expect(own.said).toMatch(/^serves at/);
    const others = await asked("other");
    expect(others.heard).toEqual(["none"]);
    expect(others.said).toMatch(/is another user's/);
  },
);
