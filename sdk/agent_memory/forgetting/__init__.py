"""Forgetting: selects what a request is about, plans the deletion, and carries it out."""
