"""Before packaging: makes host.json keep orchestrations where the environment says, in storage or in a scheduler.

It is a matter of the package and not of a setting, because what scales the app reads the file. With
DURABLE_TASK_SCHEDULER=true host.json gets a `storageProvider`; otherwise it has none, which means Azure Storage.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

HOST = Path(__file__).resolve().parents[2] / "host.json"
SCHEDULER = {"type": "azureManaged", "connectionStringName": "DURABLE_TASK_SCHEDULER_CONNECTION_STRING"}


def main() -> None:
    """Changes host.json if it has to change, and says so."""
    host = json.loads(HOST.read_text(encoding="utf-8"))
    durable = host["extensions"]["durableTask"]
    wanted = SCHEDULER if os.environ.get("DURABLE_TASK_SCHEDULER", "").lower() == "true" else None
    if durable.get("storageProvider") == wanted:
        return
    durable.pop("storageProvider", None)
    if wanted:
        durable["storageProvider"] = wanted
    HOST.write_text(json.dumps(host, indent=2) + "\n", encoding="utf-8")
    print(f"host.json: orchestrations are kept in {'the Durable Task Scheduler' if wanted else 'Azure Storage'} now.")


if __name__ == "__main__":
    main()
