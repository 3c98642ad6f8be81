"""Remembering: memories that people give or correct, what replaces what, and what follows from a replacement."""
