"""The explorer: the page that shows a memory. `api.explorer` serves it, and `page` makes one file of it."""
