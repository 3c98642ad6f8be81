"""An agent that remembers: a chat in the terminal, with a memory that outlives it.

    python samples/chat.py --user ann            # talk; Ctrl-D ends the session
    python samples/chat.py --user ann            # a new session, which knows what was said before

With OPENAI_API_KEY (or OPENAI_BASE_URL) a model answers. Without, the program shows what the model would be told:
what is remembered, and the last turns of this session.
"""

from __future__ import annotations

import argparse
import os
import sys
from datetime import datetime
from typing import Any

from agent_memory import Memory
from agent_memory.language.openai_chat import OpenAIChat
from agent_memory.sync import ThreadScope

HAS_A_MODEL = bool(os.environ.keys() & {"OPENAI_API_KEY", "OPENAI_BASE_URL"})
MODEL = os.environ.get("AGENT_MEMORY_CHAT_MODEL", "gpt-4.1-mini")
SYSTEM = {"role": "system", "content": "You are a helpful assistant."}


def main() -> None:
    """Talks until the input ends."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--user", default="me")
    options.add_argument("--store", default="chat.db")
    given = options.parse_args()
    # Embeddings are made on this machine either way, so that a model can come and go: the store stays the same.
    with Memory.local(given.store, chat_model=OpenAIChat(MODEL) if HAS_A_MODEL else None) as memory:
        chat = memory.user(given.user).thread(f"{datetime.now():%Y-%m-%d-%H%M%S}")
        for line in sys.stdin:
            if line.strip():
                print(answer(chat, line.strip()), flush=True)
        memory.drain(timeout=60)  # a program that goes on running need not wait


def answer(chat: ThreadScope, question: str) -> str:
    """Asks with what is known, and keeps question and answer."""
    context = chat.context(question)  # what is remembered, and the last turns; never raises
    chat.add("user", question)
    if not HAS_A_MODEL:
        told = "\n".join(str(message["content"]) for message in context.messages)
        return told or f"(nothing to tell: {context.skipped_reason or 'nothing is known of this'})"
    said = complete([SYSTEM, *context.messages, {"role": "user", "content": question}])
    chat.add("assistant", said)
    return said


def complete(messages: list[Any]) -> str:
    """The answer of a model."""
    from openai import OpenAI

    return OpenAI().chat.completions.create(model=MODEL, messages=messages).choices[0].message.content or ""


if __name__ == "__main__":
    main()
