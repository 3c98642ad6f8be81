"""`python -m agent_memory`: the same as `agent-memory`."""

from agent_memory.cli.main import main

main()
