"""Remembering: memories that people write or correct, what replaces what, and the effects of a replacement."""
