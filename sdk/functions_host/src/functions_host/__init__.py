"""A functions host for one machine: loads the real function app through Microsoft's worker library and runs it.

    python -m functions_host --store .func/memory.db

It is for development and tests and is not deployed. It supports what this app uses: HTTP, timer and Cosmos DB triggers,
durable orchestrations with activities, retries, timers and sub-orchestrations, and the Durable HTTP API. It refuses
everything else and says why.
"""
