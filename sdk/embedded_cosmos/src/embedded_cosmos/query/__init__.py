"""Queries over shards of documents: indexes, planning, ranking, and what Azure would refuse."""
