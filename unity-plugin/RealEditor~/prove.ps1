# ./prove.ps1 2022.3.40f1: see docs/guide/real-editor.md.
node "$PSScriptRoot/kit/prove.mjs" @args
exit $LASTEXITCODE
