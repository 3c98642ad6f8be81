"""The cloud edge: triggers, orchestrations and HTTP, which hand everything to `agent_memory`."""
