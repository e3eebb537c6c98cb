/** Editors and operations as resources, through the gateway that knows whose they are. */
import { expect, test } from "vitest";
import { useSystem } from "../../harness/system/system.js";
import { useTokenGateway } from "../../harness/system/token-gateway.js";

const { start } = useSystem();
const { open } = useTokenGateway(start);

test("they say what the tools say, of one's own only", async () => {
  const { tokens, connect } = await open();
  const [ann, bob] = [await connect(await tokens.create("ann")), await connect(await tokens.create("bob"))];
  const called = await ann.callTool({ name: "work", arguments: { Name: "a", timeout: 30 } });
  const { log_id: id } = called.structuredContent as { log_id: string };
  const read = async (client: typeof ann, uri: string): Promise<Record<string, unknown>> => {
    const [content] = (await client.readResource({ uri })).contents;
    return JSON.parse((content as { text: string }).text);
  };
  const { resources } = await ann.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining(["unity-broker://editors", "unity-broker://operations"]),
  );
  const { editors } = (await read(ann, "unity-broker://editors")) as { editors: { id: string }[] };
  expect(editors).toMatchObject([{ project: "game-1", connected: true }]);
  expect(await read(ann, `unity-broker://editors/${editors[0]?.id}`)).toMatchObject({
    id: editors[0]?.id,
    connected: true,
  });
  expect(await read(ann, `unity-broker://operations/${id}`)).toMatchObject({
    state: "completed",
    log_id: id,
  });
  expect(await read(ann, "unity-broker://operations")).toMatchObject({ operations: [{ log_id: id }] });
  expect(await read(bob, "unity-broker://operations")).toEqual({ operations: [] });
  for (const uri of [
    `unity-broker://operations/${id}`,
    "unity-broker://editors/%E0%A4%A",
    "unity-broker://x",
  ])
    await expect(bob.readResource({ uri })).rejects.toMatchObject({ code: -32002 });
});
