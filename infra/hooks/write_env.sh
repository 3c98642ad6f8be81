#!/bin/sh
# After provisioning: puts into .env what the library needs to find the store and the models. Other lines stay.
# No key is among them: whoever runs the library signs in (az login).
set -eu

mine='^(COSMOS_DB_ENDPOINT|COSMOS_DB_DATABASE|AZURE_OPENAI_ENDPOINT|AGENT_MEMORY_[A-Z_]+)='
values=$(azd env get-values)
{
  if [ -f .env ]; then grep -vE "$mine" .env || true; fi
  printf '%s\n' "$values" | grep -E "$mine"
} > .env.new
mv .env.new .env
echo "Wrote .env. To use it here: set -a; . ./.env; set +a"
