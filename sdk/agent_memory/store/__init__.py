"""The data in Cosmos DB: documents, ids, queries, cursors, counters, optimistic writes."""
