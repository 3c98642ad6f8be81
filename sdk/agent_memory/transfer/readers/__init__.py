"""Readers of transcripts: one module for each format, and `transcripts`, which finds out which one a file has."""

from enum import StrEnum


class Format(StrEnum):
    """The formats that are understood."""

    MESSAGES = "messages"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    LOCOMO = "locomo"
