"""How many wrong contents the checks of a memory's content catch, and how many right ones they doubt.

A doubted memory gets the user's own words; one whose quoted sentences make no memory is lost.

    python benchmarks/support.py [--locomo FILE]

Without a file it counts the hand-written set `tests/data/labelled/answers.jsonl`. With LoCoMo's file (its licence keeps
it out of the repository) it takes the notes of the annotators as right contents, and makes wrong ones of them.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agent_memory.language.grounding.own_words import in_own_words
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.grounding.support import NOT_STATED, why_unsupported
from agent_memory.language.tasks import ExtractedMemory, TurnView
from agent_memory.text.names import names
from agent_memory.text.sentences import sentences

ROOT = Path(__file__).parents[1]
AHEAD = 4
STRANGER = "Ludwig"
"""A name that nobody in the data says."""
_MONTH = re.compile("January|February|March|April|May|June|July|August|September|October|November|December")

Note = tuple[str, list[Spoken], list[Spoken]]


def notes_of(path: Path) -> Iterator[Note]:
    """The annotators' notes: the note, the turns that it cites, and those before them."""
    for sample in json.loads(path.read_text(encoding="utf-8")):
        talk, turns, order = sample["conversation"], {}, []
        for name, session in talk.items():
            if name.startswith("session_") and isinstance(session, list):
                said_at = datetime.strptime(talk[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
                for turn in session:
                    text = f"{turn['text']} {turn.get('blip_caption', '')}".strip()
                    turns[turn["dia_id"]] = Spoken(text, said_at, turn["speaker"])
                    order.append(turn["dia_id"])
        for by_speaker in sample["observation"].values():
            for note, ids in (entry for entries in by_speaker.values() for entry in entries):
                cited = [one for one in (ids if isinstance(ids, list) else re.split(r"[;,]\s*", ids)) if one in turns]
                if cited:
                    first = order.index(cited[0])
                    yield (
                        note,
                        [turns[one] for one in cited],
                        [turns[one] for one in order[max(0, first - AHEAD) : first]],
                    )


def _first_of(note: str, pairs: dict[str, str]) -> str | None:
    return next((note.replace(old, new, 1) for old, new in pairs.items() if old in note), None)


def _swapped(note: str) -> str | None:
    found = list(dict.fromkeys(re.findall(r"[A-Z]\w+", note)))[:2]
    if len(found) < 2:
        return None
    return note.replace(found[0], "\0", 1).replace(found[1], found[0], 1).replace("\0", found[1], 1)


def _renamed(note: str) -> str | None:
    found = names(note)
    return note.replace(found[0], STRANGER, 1) if found else None


CHANGES: dict[str, Callable[[str, str], str | None]] = {
    "a figure changed": lambda note, _: re.sub(r"\b\d+\b", lambda found: str(int(found[0]) + 17), note, count=1),
    "a name replaced": lambda note, _: _renamed(note),
    "the owner replaced": lambda note, who: note.replace(who, STRANGER, 1) if note.startswith(who) else None,
    "a not put in": lambda note, _: _first_of(
        note,
        {
            " is ": " is not ",
            " has ": " does not have ",
            " was ": " was not ",
            " enjoys ": " does not enjoy ",
            " loves ": " does not love ",
        },
    ),
    "a not taken out": lambda note, _: _first_of(
        note,
        {
            " is not ": " is ",
            " does not ": " ",
            " did not ": " ",
            " never ": " ",
            " doesn't ": " ",
            " hasn't ": " has ",
            " didn't ": " ",
        },
    ),
    "a doubt taken out": lambda note, _: _first_of(
        note, {" might ": " will ", " is considering ": " is ", " may ": " will ", " is thinking of ": " is "}
    ),
    "two names swapped": lambda note, _: _swapped(note),
    "a month changed": lambda note, _: _MONTH.sub(lambda found: "May" if found[0] != "May" else "June", note, count=1),
}


def _row(what: str, caught: int, of: int) -> None:
    print(f"{what:<28} {caught:>5} of {of:<5} {100 * caught / max(of, 1):5.1f} %")


def _is_lost(note: Note) -> bool:
    """Whether a right content leaves no memory behind, because its quoted turn makes none either."""
    content, cited, ahead = note
    last = cited[-1]
    why = why_unsupported(content, last.text, cited, ahead)
    turn = TurnView(ref="t1", role="user", name=last.name, content=last.text, created_at=last.said_at)
    quoting = ExtractedMemory(content=content, quote=_quote(content, last.text), turns=["t1"])
    return why is not None and (why in NOT_STATED or in_own_words(quoting, turn, []) is None)


def _quote(content: str, text: str) -> str:
    """The sentence that shares most words with a note: the annotators quote none."""
    words = set(content.casefold().split())
    return max(sentences(text), key=lambda one: len(words & set(one.casefold().split())), default=text)


def main() -> None:
    """Counts, and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="LoCoMo's file, with its observations")
    options = parser.parse_args()
    said_at = datetime(2026, 3, 13, 9, tzinfo=UTC)
    lines = (ROOT / "tests/data/labelled/answers.jsonl").read_text(encoding="utf-8").splitlines()
    cases: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def refused(case: dict[str, Any], content: str) -> bool:
        return why_unsupported(content, case["said"], [Spoken(case["said"], said_at, case["name"])]) is not None

    right = [refused(case, content) for case in cases for content in case["good"]]
    wrong = [refused(case, content) for case in cases for content in case["bad"].values()]
    print("hand-written")
    _row("right, doubted", sum(right), len(right))
    _row("wrong, caught", sum(wrong), len(wrong))
    if options.locomo is None:
        return
    notes = list(notes_of(options.locomo))
    started = time.process_time()
    kept = [note for note in notes if why_unsupported(note[0], note[1][-1].text, note[1], note[2]) is None]
    each = (time.process_time() - started) / len(notes)
    print("\nLoCoMo's notes")
    _row("right, doubted", len(notes) - len(kept), len(notes))
    _row("right, lost", sum(map(_is_lost, notes)), len(notes))
    for what, change in CHANGES.items():
        changed = [
            (wrong, note) for note in kept if (wrong := change(note[0], note[1][-1].name or "")) not in (None, note[0])
        ]
        caught = sum(
            why_unsupported(str(text), note[1][-1].text, note[1], note[2]) is not None for text, note in changed
        )
        _row(what, caught, len(changed))
    print(f"\n{1000 * each:.1f} ms of processor time each")


if __name__ == "__main__":
    main()
