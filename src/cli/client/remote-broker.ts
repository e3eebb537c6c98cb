/** A gateway elsewhere, or of another process of this machine, over HTTP. */
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { gatewayOriginOf } from "../gateway-origin.js";
import type { Settings } from "../processes/settings.js";
import type { BrokerClient } from "./broker-client.js";
import { clientOver, connect } from "./mcp-client.js";

export async function connectRemote({ config }: Settings, caller: string): Promise<BrokerClient> {
  const { UNITY_BROKER_TOKEN: token, UNITY_BROKER_URL: url, UNITY_BROKER_HOST, UNITY_BROKER_PORT } = config;
  const endpoint = new URL(url ?? `${gatewayOriginOf(UNITY_BROKER_HOST, UNITY_BROKER_PORT)}/mcp`);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const transport = new StreamableHTTPClientTransport(endpoint, { requestInit: { headers } });
  const client = await connect(transport as Transport, endpoint.href, caller);
  return clientOver(client, async () => {
    // A gateway that went away meanwhile has nothing to end.
    await transport.terminateSession().catch(() => undefined);
    await client.close();
  });
}
