# After provisioning: puts into .env what the library needs to find the store and the models. Other lines stay.
# No key is among them: whoever runs the library signs in (az login).
$ErrorActionPreference = 'Stop'

$mine = '^(COSMOS_DB_ENDPOINT|COSMOS_DB_DATABASE|AZURE_OPENAI_ENDPOINT|AGENT_MEMORY_[A-Z_]+)='
$values = azd env get-values
if ($LASTEXITCODE -ne 0) { throw 'azd env get-values failed' }
$others = if (Test-Path .env) { @(Get-Content .env | Where-Object { $_ -notmatch $mine }) } else { @() }
Set-Content .env ($others + @($values | Where-Object { $_ -match $mine }))
Write-Host 'Wrote .env.'
