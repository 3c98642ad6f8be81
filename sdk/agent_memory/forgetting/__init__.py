"""Forgetting: what a request means, what follows from it, and carrying it out."""
