"""A functions host for this machine: loads the real function app through Microsoft's worker library and runs it.

    python -m functions_host --store .func/memory.db

For development and tests; it is not deployed. It does what this app uses, durably: HTTP, timer and Cosmos DB
triggers, orchestrations with activities, retries, timers and sub-orchestrations, and the Durable HTTP API. What
it does not do it refuses, with the reason.
"""
