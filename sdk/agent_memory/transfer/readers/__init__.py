"""Readers of transcripts: one module for each format, and `transcripts`, which detects the format of a file."""

from enum import StrEnum


class Format(StrEnum):
    """The known formats."""

    MESSAGES = "messages"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    LETTA = "letta"
    OPENAI = "openai"
    LOCOMO = "locomo"
