"""Recall: finds what matters for a question, and shows it within a token budget."""
