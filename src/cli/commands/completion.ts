/** `unity-broker completion`: the script for a shell, and for that script what may follow a typed line. */

import type { CommandDef } from "citty";
import type { Answer } from "../../shared/operation/answer.js";
import { printableLine } from "../../shared/printable.js";
import { print } from "../client/ask-broker.js";
import type { BrokerClient } from "../client/broker-client.js";
import { connectBroker } from "../client/connect-broker.js";
import { type Run, UsageError } from "../command.js";
import { settingsEnvironment } from "../configuration/config-file.js";
import type * as declared from "../declared/completing.js";
import { SHELLS } from "../declared/completing.js";
import { brokerFolder, readEndpoint } from "../pipe/broker-place.js";
import { readSettings } from "../processes/settings.js";
import { type Candidate, candidatesFor, type Known } from "./candidates.js";

export function completionOf(root: () => CommandDef): Run<typeof declared.completion> {
  return async ({ args }) => {
    if (args.shell === "words") {
      const found = await candidatesFor(args.line ?? "", root(), askRunning);
      if (found.length > 0) await print(found.map(lineOf).join("\n"));
      return;
    }
    const shell = SHELLS.find((name) => name === args.shell);
    if (!shell) throw new UsageError(`completion ${args.shell}: only ${SHELLS.join(", ")} are known`);
    await print(SCRIPTS[shell].trimEnd());
  };
}

const lineOf = ({ value, description }: Candidate): string =>
  description === "" ? value : `${printableLine(value)}\t${printableLine(description)}`;

/** Nobody waits longer for a Tab, ms. */
const PATIENCE_MS = 3_000;

/** Of the broker of these settings, if it runs: a Tab starts none. */
async function askRunning(what: Known): Promise<Candidate[]> {
  try {
    const settings = readSettings();
    const { UNITY_BROKER_TOKEN: token, UNITY_BROKER_URL: url, UNITY_BROKER_BACKGROUND } = settings.config;
    const isElsewhere = token !== undefined || url !== undefined;
    const isRunning =
      UNITY_BROKER_BACKGROUND && readEndpoint(brokerFolder(settingsEnvironment())) !== undefined;
    if (!isElsewhere && !isRunning) return [];
    const late = new Promise<Candidate[]>((resolve) => {
      setTimeout(() => resolve([]), PATIENCE_MS).unref();
    });
    return await Promise.race([
      connectBroker({ serves: false }, settings).then((client) => known(client, what)),
      late,
    ]);
  } catch {
    // A line that is being typed is no place for errors.
    return [];
  }
}

async function known(client: BrokerClient, what: Known): Promise<Candidate[]> {
  try {
    if (what === "tools")
      return (await client.tools()).map(({ name, title = "" }) => ({ value: name, description: title }));
    if (what === "editors") {
      const { editors } = await client.call("list_editors");
      return (editors as { id: string; project: string }[]).map(({ id, project }) => ({
        value: id,
        description: project,
      }));
    }
    const { operations } = await client.call("list_operations", { limit: 30 });
    return (operations as Answer[]).map(({ log_id = "", tool = "", state = "" }) => ({
      value: log_id,
      description: `${tool} ${state}`,
    }));
  } finally {
    await client.close();
  }
}

// What a shell evaluates: it asks the command line itself for what may follow, one candidate a line, a tab before its description.

type Shell = (typeof SHELLS)[number];

/** Of bash: it takes a word apart at "@", ":" and "=", and completes what is behind them. */
const BASH = `_unity_broker() {
  local line="\${COMP_LINE:0:COMP_POINT}" current="\${COMP_WORDS[COMP_CWORD]}" word reply
  word="\${line##* }"
  COMPREPLY=()
  while IFS= read -r reply; do
    reply="\${reply%%$'\\t'*}"
    COMPREPLY+=("\${reply#"\${word%"$current"}"}")
  done < <(unity-broker completion words "$line" 2>/dev/null)
}
complete -o default -F _unity_broker unity-broker
`;

const ZSH = `#compdef unity-broker
_unity_broker() {
  local -a replies
  local reply
  for reply in "\${(@f)$(unity-broker completion words "$LBUFFER" 2>/dev/null)}"; do
    [[ -n "$reply" ]] && replies+=("\${\${reply%%$'\\t'*}//:/\\\\:}:\${reply#*$'\\t'}")
  done
  if (( $#replies )); then _describe unity-broker replies; else _files; fi
}
if [[ "$funcstack[1]" == _unity_broker ]]; then _unity_broker "$@"; else compdef _unity_broker unity-broker; fi
`;

const FISH = `complete -c unity-broker -f -a '(unity-broker completion words (commandline -cp) 2>/dev/null)'
complete -c unity-broker -l config -r -F
`;

/** The text of the command ends with its last word: the spaces behind it are put back. */
const POWERSHELL = `Register-ArgumentCompleter -Native -CommandName unity-broker -ScriptBlock {
  param($word, $command, $cursor)
  $typed = $cursor - $command.Extent.StartOffset
  $line = $command.ToString().PadRight($typed).Substring(0, $typed)
  unity-broker completion words $line 2>$null | ForEach-Object {
    $value, $description = $_ -split [char]9, 2
    if (-not $description) { $description = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
  }
}
`;

export const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH,
  zsh: ZSH,
  fish: FISH,
  powershell: POWERSHELL,
};
