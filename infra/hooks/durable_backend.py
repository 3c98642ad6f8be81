"""Before packaging: makes host.json keep orchestrations where the environment says, in storage or in a scheduler.

It is a matter of the package and not of a setting, because what scales the app reads the file. With
DURABLE_TASK_SCHEDULER=true the `storageProvider` of host.json is the scheduler; otherwise it is Azure Storage, which
is asked every ten seconds at least, as Microsoft recommends for Flex Consumption.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

HOST = Path(__file__).resolve().parents[2] / "host.json"
STORAGE = {"maxQueuePollingInterval": "00:00:10"}
SCHEDULER = {"type": "azureManaged", "connectionStringName": "DURABLE_TASK_SCHEDULER_CONNECTION_STRING"}


def main() -> None:
    """Changes host.json if it has to change, and says so."""
    host = json.loads(HOST.read_text(encoding="utf-8"))
    durable = host["extensions"]["durableTask"]
    wanted = SCHEDULER if os.environ.get("DURABLE_TASK_SCHEDULER", "").lower() == "true" else STORAGE
    if durable.get("storageProvider") == wanted:
        return
    durable["storageProvider"] = wanted
    HOST.write_text(json.dumps(host, indent=2) + "\n", encoding="utf-8")
    place = "the Durable Task Scheduler" if wanted == SCHEDULER else "Azure Storage"
    print(f"host.json: orchestrations are kept in {place} now.")


if __name__ == "__main__":
    main()
