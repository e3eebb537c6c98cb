/** `unity-broker doctor`: what is wrong, and what fixes it. Each check needs those before it. */

import { printableJson } from "../../shared/printable.js";
import type { BrokerClient } from "../client/broker-client.js";
import { connectBroker } from "../client/connect-broker.js";
import { EXIT } from "../client/exit-codes.js";
import { coloursFor } from "../client/render.js";
import type { Run } from "../command.js";
import type * as declared from "../declared/asking.js";
import { checkBroker, checkNamedEditors, checkOtherBrokers } from "../doctor/check-broker.js";
import { checkEditors, checkEndpointFiles } from "../doctor/check-editors.js";
import { checkGateway, notSpokenTo } from "../doctor/check-gateway.js";
import { checkConfiguration, checkFolder, checkTokens, checkVersions } from "../doctor/check-machine.js";
import { checkSecurity } from "../doctor/check-security.js";
import { checkStore } from "../doctor/check-store.js";
import { type Finding, renderFindings } from "../doctor/finding.js";
import { environment } from "../environment.js";
import { selfCommand } from "../self.js";

export const doctor: Run<typeof declared.doctor> = async ({ args }) => {
  const findings = await (args.security ? examineSecurity() : examine(selfCommand()));
  console.log(
    args.json ? printableJson(findings) : renderFindings(findings, coloursFor(process.stdout, environment())),
  );
  process.exitCode = findings.some(({ state }) => state === "problem") ? EXIT.failed : EXIT.ok;
};

async function examineSecurity(): Promise<Finding[]> {
  const configuration = checkConfiguration();
  if ("findings" in configuration) return configuration.findings;
  return checkSecurity(configuration.settings, environment());
}

async function examine(self: string): Promise<Finding[]> {
  const configuration = checkConfiguration();
  if ("findings" in configuration) return [checkVersions(), ...configuration.findings];
  const { settings } = configuration;
  const findings = [checkVersions(), await checkFolder(settings), await checkTokens(settings)];
  const isBroken = (): boolean => findings.some(({ state }) => state === "problem");
  const isClient =
    settings.config.UNITY_BROKER_TOKEN !== undefined || settings.config.UNITY_BROKER_URL !== undefined;
  findings.push(await checkGateway(settings, self));
  if (isBroken()) return findings;

  let expected: string[] = [];
  if (!isClient) {
    findings.push(await checkBroker(settings, self), ...checkOtherBrokers(settings, self));
    if (isBroken()) return findings;
    const { findings: ofStore, runtime } = await checkStore(settings);
    await runtime?.close();
    const files = await checkEndpointFiles(settings, self);
    findings.push(...ofStore, ...(await checkNamedEditors(settings)), ...files.findings);
    if (!runtime || files.ids.length === 0) return findings;
    expected = files.ids;
  }
  let client: BrokerClient;
  try {
    client = await connectBroker({ serves: true, isImpatient: true }, settings);
  } catch (error) {
    return [...findings, notSpokenTo(error, settings)];
  }
  try {
    findings.push(...(await checkEditors(client, expected)));
  } finally {
    await client.close();
  }
  return findings;
}
