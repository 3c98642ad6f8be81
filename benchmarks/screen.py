"""How often the screen takes plain text for a secret or an instruction: findings in 1,000 turns, by rule.

Run: `python benchmarks/screen.py FILE... [--show]`. A file is in LoCoMo's format: a list of conversations, each with
sessions of turns that have a `text`. Nothing is stored. `--show` prints what was found, with the text around it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from agent_memory.screening.findings import Finding, find_instructions, find_secrets
from agent_memory.text.folding import folded

AROUND = 60
"""Characters that are shown on either side of a finding."""


def turns(path: Path) -> Iterator[str]:
    """The texts of all turns of a file."""
    for sample in json.loads(path.read_text("utf-8")):
        for name, session in sample["conversation"].items():
            if name.startswith("session_") and isinstance(session, list):
                yield from (folded(turn.get("text") or "") for turn in session)


def around(text: str, finding: Finding) -> str:
    """A finding in its surroundings, on one line."""
    before, behind = text[max(0, finding.start - AROUND) : finding.start], text[finding.end : finding.end + AROUND]
    return " ".join(f"{before}»{text[finding.start : finding.end]}«{behind}".split())


def main() -> None:
    """Reads the files and prints a table for each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="print what was found")
    given = parser.parse_args()
    for path in given.files:
        texts = list(turns(path))
        found = [(text, one) for text in texts for one in (*find_secrets(text), *find_instructions(text))]
        concerned = len({text for text, _ in found})
        print(f"{path.name}: {len(texts)} turns, {1000 * concerned / len(texts):.2f} in 1,000 with a finding")
        for (kind, what), number in Counter((one.kind, one.what) for _, one in found).most_common():
            print(f"  {kind}, {what}: {number} ({1000 * number / len(texts):.2f} in 1,000)")
        if given.show:
            for text, one in found:
                print(f"    {one.what}: {around(text, one)}")


if __name__ == "__main__":
    main()
