"""`python -m agent_memory.cli`."""

from agent_memory.cli.main import main

main()
