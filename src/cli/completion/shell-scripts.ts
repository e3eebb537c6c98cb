/** What a shell evaluates: it asks the command line itself for what may follow, one candidate a line, a tab before its description. */
import type { SHELLS } from "../declared/completing.js";

export type Shell = (typeof SHELLS)[number];

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
