"""Quoting: what somebody once said, as one line that cannot pass for anything but a quotation (decision D9)."""

from __future__ import annotations

import re

# Controls, invisible characters that reorder or hide text, and halves of surrogate pairs. The joiners that Persian
# and emoji are written with stay.
_INVISIBLE = re.compile(  # one class: it reads every character once
    "[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
# One repeat of one class with nothing behind it: it never goes back.
_BREAKS = re.compile("[\\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
# Without a repeat: seven characters are read at each "<" and "[".
# Servers that build one string of all messages may take these for the marks between messages.
_MARKS = re.compile(r"<(?=[|｜])|<(?=/?s>)|<(?=<?/?SYS>)|\[(?=/?INST\])", re.IGNORECASE)


def quoted(text: str) -> str:
    """A text on one line, without characters that hide or reorder it, and without the marks of chat templates.

    On a line that begins with "- " it can open no section, no role and no message of its own.
    """
    line = _BREAKS.sub(" ", _INVISIBLE.sub("", text)).strip()
    return _MARKS.sub(lambda mark: f"{mark[0]} ", line)


def escaped(text: str) -> str:
    """A text that cannot close an XML element."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
