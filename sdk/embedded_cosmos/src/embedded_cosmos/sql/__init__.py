"""Cosmos SQL: text to syntax tree, syntax tree to Python closures, over JSON values with `undefined`."""
