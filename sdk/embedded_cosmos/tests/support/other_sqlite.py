"""Runs a module with the SQLite of pysqlite3, which was built without SQLITE_SECURE_DELETE.

`python other_sqlite.py MODULE ARGUMENT …` is `python -m MODULE ARGUMENT …` with that SQLite under the name sqlite3.
"""

import runpy
import sys


def use() -> None:
    import pysqlite3.dbapi2

    sys.modules["sqlite3"] = pysqlite3.dbapi2


if __name__ == "__main__":
    use()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
