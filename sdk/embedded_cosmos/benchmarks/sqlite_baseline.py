"""What an application would do with SQLite alone: the yardstick of engine.py."""

from __future__ import annotations

import json
import sqlite3
import struct
from operator import mul
from pathlib import Path
from typing import Any

RRF_CONSTANT = 60
CANDIDATES = 100


class SqliteBaseline:
    """Documents as JSON in one table, their vectors as blobs, their texts in FTS5."""

    def __init__(self, path: Path, documents: list[dict[str, Any]]) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        self._database.executescript(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = NORMAL;
            CREATE TABLE items (number INTEGER PRIMARY KEY, id TEXT UNIQUE, body TEXT NOT NULL, vector BLOB NOT NULL);
            CREATE VIRTUAL TABLE texts USING fts5 (content);
            """
        )
        with self._database:
            self._database.execute("BEGIN")
            for document in documents:
                self._write(document)

    def read(self, item_id: str) -> object:
        row = self._database.execute("SELECT body FROM items WHERE id = ?", (item_id,)).fetchone()
        return json.loads(row[0])

    def upsert(self, document: dict[str, Any]) -> None:
        with self._database:
            self._database.execute("BEGIN")
            self._write(document)

    def increment(self, item_id: str) -> None:
        statement = "UPDATE items SET body = json_set(body, '$.uses', coalesce(json_extract(body, '$.uses'), 0) + 1)"
        self._database.execute(f"{statement} WHERE id = ?", (item_id,))

    def filtered(self, kind: str) -> list[object]:
        columns = "id, json_extract(body, '$.content')"
        filters = f"{_FILTER} AND json_type(body, '$.superseded_at') IS NULL"
        return self._database.execute(f"SELECT {columns} FROM items WHERE {filters} LIMIT 10", (kind,)).fetchall()

    def nearest(self, kind: str, vector: list[float], limit: int = 10) -> list[int]:
        scored = []
        for number, blob in self._database.execute(f"SELECT number, vector FROM items WHERE {_FILTER}", (kind,)):
            # Both are of length one, so that the product is the cosine.
            scored.append((sum(map(mul, vector, struct.unpack(f"{len(vector)}f", blob))), number))
        return [number for _, number in sorted(scored, reverse=True)[:limit]]

    def hybrid(self, kind: str, vector: list[float], words: list[str]) -> list[int]:
        found = self._database.execute(_MATCHING, (" OR ".join(words), kind, CANDIDATES)).fetchall()
        scores: dict[int, float] = {}
        for ranking in (self.nearest(kind, vector, CANDIDATES), [number for (number,) in found]):
            for rank, number in enumerate(ranking, start=1):
                scores[number] = scores.get(number, 0.0) + 1 / (RRF_CONSTANT + rank)
        return sorted(scores, key=scores.__getitem__, reverse=True)[:10]

    def everything(self) -> int:
        rows = self._database.execute("SELECT body FROM items ORDER BY number")
        return sum(1 for (body,) in rows if json.loads(body))

    def _write(self, document: dict[str, Any]) -> None:
        vector = struct.pack(f"{len(document['embedding'])}f", *document["embedding"])
        row = (document["id"], json.dumps(document), vector)
        (number,) = self._database.execute(_UPSERT, row).fetchone()
        self._database.execute(
            "INSERT OR REPLACE INTO texts (rowid, content) VALUES (?, ?)", (number, document["content"])
        )


_FILTER = "json_extract(body, '$.type') = ? AND json_extract(body, '$.confidence') >= 0.5"
_MATCHING = f"""
SELECT t.rowid FROM texts t JOIN items ON number = t.rowid
WHERE texts MATCH ? AND {_FILTER} ORDER BY bm25(texts) LIMIT ?
"""
_UPSERT = """
INSERT INTO items (id, body, vector) VALUES (?, ?, ?)
ON CONFLICT (id) DO UPDATE SET body = excluded.body, vector = excluded.vector RETURNING number
"""
