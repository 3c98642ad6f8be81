"""Recall: finding what matters for a question, and telling it within a token budget."""
