"""No text from outside takes more than about linear time, whatever rule or reader it meets.

Every entry point is given texts that repeat what rules stumble over, longer and longer until one takes `FLOOR` seconds
of processor time; what never does is not judged. The time for that text is compared with that for a quarter of it, and
if it grew too fast, the same is asked again with twice the text, so that neither noise nor a bound that is met passes
for growth. Set `GROWTH=full` for texts of up to 200,000 characters (more than an hour).
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import math
import os
import signal
import string
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from rich.console import Console

from agent_memory.cli import terminal, views
from agent_memory.errors import AgentMemoryError
from agent_memory.language import answers, prompts
from agent_memory.language.answer_text import read_sections
from agent_memory.language.grounding import quotes, support
from agent_memory.language.grounding.corrections import corrected
from agent_memory.language.grounding.said_dates import Spoken
from agent_memory.language.hashing import embed_text
from agent_memory.language.offline import reconcile
from agent_memory.language.offline.archive import archive
from agent_memory.language.offline.conclude import reflect
from agent_memory.language.offline.extract import extract
from agent_memory.language.offline.profile import profile
from agent_memory.language.offline.summarize import summarize
from agent_memory.language.requests import as_document
from agent_memory.language.tasks import (
    EXTRACT,
    ArchiveInput,
    ExtractInput,
    FactView,
    ProfileInput,
    ReflectInput,
    SummarizeInput,
    TurnView,
)
from agent_memory.models import Memory, Signals, content_hash
from agent_memory.recall import dates as recall_dates, gate, questions, relevance, render
from agent_memory.rules import keeping
from agent_memory.rules.switches import Rules
from agent_memory.screening import findings, screen
from agent_memory.screening.injected import without_injected
from agent_memory.settings import PolicySettings
from agent_memory.steps import reprocess
from agent_memory.steps.gather import cut
from agent_memory.steps.index import parts_of
from agent_memory.steps.summarize import says
from agent_memory.text import dates, figures, likeness, names, restated, sentences, terms
from agent_memory.text.folding import folded, seen
from agent_memory.text.tokens import TiktokenCounter
from agent_memory.transfer.formats import as_export
from agent_memory.transfer.readers.transcripts import read_transcript
from embedded_cosmos.errors import CosmosError
from embedded_cosmos.query.analysis import Analyzer
from embedded_cosmos.sql.functions.strings import FUNCTIONS, like_pattern
from embedded_cosmos.sql.lexer import tokenize

pytestmark = pytest.mark.acceptance

FULL = os.environ.get("GROWTH") == "full"
SIZES = (12_500, 50_000, 200_000) if FULL else (1_000, 8_000)
BEYOND = {"answers in JSON": (16_000, 64_000), "broken answers": (16_000, 64_000)}
"""Sizes for entry points that do more work on short texts: broken JSON of up to 8,000 characters is repaired, for which
the time grows with the square of the text, and none that is longer."""
LONG = frozenset({"images", "an image with a query"})
"""Families that are tried with 32,000 characters, too: rules for them were slow, but only there."""
FLOOR = 0.1 if FULL else 0.04
EXPONENT = 1.3
"""Time grows with this power of the text at most: linear, with room for caches and sorting."""
LIMIT = 60.0 if FULL else 8.0
"""Seconds after which a run is given up: a pattern that goes back for ever would never end."""

NOW = datetime(2026, 5, 17, 12, tzinfo=UTC)

FAMILIES: dict[str, str | tuple[str, str, str]] = {
    **{f"sign {sign}": sign for sign in string.punctuation},
    **{f"signs {sign}": f"{sign} " for sign in "-*#.,:;'\"()[]<>/"},
    **{f"white {ord(sign):x}": sign for sign in " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2003\u2028\u3000"},
    "gap in a sentence": ("I live in", " ", "Oslo."),
    "lines of blanks": "\n   ",
    "a tag and lines of blanks": ("<memory>\n", "      \n", "x"),
    "an open tag": "<memory>\n",
    "open tags": "<a <b ",
    "a heading of ours": "## Memory\n\n",
    "a password": ("password for x", " ", ""),
    "passwords": "password for x ",
    "images": "![",
    "an image with a query": ("![](http://", "?", ""),
    "links": "![a](http://b?c=",
    "backticks": "```\n",
    "fences": "~~~ a\n",
    "bullets": "- ",
    "a list": "- a thing\n",
    "steps": "1. run it\n",
    "stars": "**a** ",
    "monday": "monday ",
    "dates": "2020-01-01 ",
    "written dates": "March 3, 2020 ",
    "years": "in 9 years ",
    "ordinals": "on the 19th ",
    "months": "May ",
    "clocks": "10:30 ",
    "digits": "1",
    "numbers": "1 ",
    "points": "1.",
    "money": "$1,",
    "cards": "4111-",
    "a private key": "-----BEGIN RSA PRIVATE KEY-----\n",
    "the head of a key": "-----BEGIN ",
    "bearers": "Bearer aaaaaaaaaaaaaaaaaaaa ",
    "tokens": "ghp_a1B2c3D4",
    "mails": "a@b.c ",
    "addresses": "https://a.b/c?d=e&",
    "orders": "ignore all previous ",
    "roles": "system: you are now ",
    "quotes": "“a ",
    "nested": ("", '{"a":[', ""),
    "objects": '{"a":1}',
    "thoughts": "<think>",
    "escapes": "\\u0041",
    "accents": "e\u0301",
    "marks": "\u0301",
    "emoji": "\U0001f469",
    "joined emoji": "\U0001f469\u200d",
    "invisible": "a\u200b",
    "overrides": "\u202ea",
    "halfwidth": "ｱﾞ",
    "a long word": "a",
    "a long name": "A",
    "capitals": "Aa ",
    "short words": "a ",
    "hyphens": "a-",
    "apostrophes": "a'",
    "underscores": "a_",
    "words": "word ",
    "and": "and ",
    "clauses": "and i like ",
    "questions": "Is it so? ",
    "sentences": "I moved to Rome. ",
    "talk": "I live in Oslo, and we have a dog named Rex, but my budget is 500 euros. ",
    "slips": "5, no, 6 ",
    "to do": "I still need to book the trip. ",
    "topics": "the trip to Rome ",
    "abbreviations": "approx.A",
    "chinese": "猫",
    "chinese sentences": "我住在。",
    "thai": "ก",
    "turkish": "İ",
    "arabic": "ع",
}


def text_of(family: str, size: int) -> str:
    """A text of a family, about `size` characters long."""
    kind = FAMILIES[family]
    begin, unit, end = ("", kind, "") if isinstance(kind, str) else kind
    return begin + unit * max(1, (size - len(begin) - len(end)) // len(unit)) + end


def turn(content: str, ref: str = "t1", role: Any = "user") -> TurnView:
    return TurnView(ref=ref, role=role, content=content, name="Ann", created_at=NOW)


def fact(content: str, ref: str = "f1") -> FactView:
    return FactView(ref=ref, kind="fact", content=content, said_at=NOW)


def memory(content: str) -> Memory:
    return Memory(
        id="fact_1", user_id="u", thread_id="t", type="fact", kind="fact", content=content, quote=content,
        created_at=NOW, recorded_at=NOW,
    )  # fmt: skip


def event_of_question(text: str) -> None:
    event = recall_dates.event_named(f"before the {text}")
    if event is not None:
        recall_dates.time_around(event, [memory(text)])


def secrets_and_tags(text: str) -> Memory:
    parts = [f"{text[at : at + 8]}{at}" for at in range(0, len(text), 8)]
    return memory(" ".join(f"password: Zz{part}" for part in parts)).model_copy(update={"tags": parts})


EXTRACTION = ExtractInput(before=[], turns=[turn("I live in Oslo.")])
LIKENESS = likeness.Likeness.of("hashing-384")
RULES = Rules(deny=frozenset({"health"}))
POLICY = PolicySettings()
SECRETS_ALONE = PolicySettings(instructions="allow")
"""To look for instructions in each of many tags takes so long that no other growth would show."""
COUNTER = TiktokenCounter()


def printed(content: str) -> None:
    console = Console(file=io.StringIO(), width=100, markup=False, emoji=False, highlight=False)
    console.print(views.memory_table([memory(content)]))


def ingested(content: str) -> None:
    path = SCRATCH / "turns.jsonl"
    path.write_text("\n".join(json.dumps({"role": "user", "content": part}) for part in (content, "x")))
    list(read_transcript(path))
    path.write_text(content, errors="replace")
    list(read_transcript(path))


def asked(content: str) -> None:
    asyncio.run(questions.build_question("how much?", [content], "prepend", None, 5.0))  # type: ignore[arg-type]
    questions.is_self_contained(content)


def sql(content: str) -> None:
    with contextlib.suppress(CosmosError):
        tokenize(f"SELECT * FROM c WHERE c.a = {json.dumps(content)}")
    tokenize(content)


def matched(content: str) -> None:
    like_pattern("%a%a%b%", None).is_all_of(content)
    FUNCTIONS["REGEXMATCH"].call(content, "(a+)+$")
    like_pattern(content[:1000], None).is_all_of(content)


def parsed_prompt(content: str) -> None:
    head = f"id: extract\nversion: '1'\ndescription: {json.dumps(content)}"
    prompts.parse_prompt("extract", f"---\n{head}\n---\n{content}", Path("extract.prompty"))


@cache
def encoder() -> Any:
    tokenizers = pytest.importorskip("tokenizers")
    from importlib.resources import files

    made = tokenizers.Tokenizer.from_file(str(files("agent_memory.language") / "data" / "tokenizer.json"))
    made.enable_truncation(256)
    return made


SCRATCH = Path()

ENTRIES: dict[str, Callable[[str], object]] = {
    "screen a memory": lambda text: screen.screen_memories([memory(text)], RULES, POLICY),
    "tags beside secrets": lambda text: screen.screen_memory(secrets_and_tags(text), SECRETS_ALONE),
    "secrets": findings.find_secrets,
    "instructions": findings.find_instructions,
    "categories": keeping.categories_of,
    "folding": lambda text: (folded(text), seen(text)),
    "injected": without_injected,
    "extract": lambda text: extract(ExtractInput(before=[turn(text, "b1")], turns=[turn(text)])),
    "summarize": lambda text: summarize(SummarizeInput(turns=[turn(text), turn(text, "t2", "agent")])),
    "archive": lambda text: archive(ArchiveInput(turns=[turn(text)])),
    "profile": lambda text: profile(ProfileInput(facts=[fact(text)])),
    "reconcile": lambda text: reconcile.read(fact(text)),
    "reflect": lambda text: reflect(ReflectInput(memories=[fact(text, f"f{n}") for n in range(3)])),
    "dates": lambda text: dates.find(text, NOW),
    "dates of a question": lambda text: recall_dates.periods(text, NOW),
    "event of a question": event_of_question,
    "question building": asked,
    "gate": lambda text: (gate.decide(text, Signals()), gate.is_personal(text)),
    "asking": lambda text: (relevance.asks(f"{text}?"), relevance.only_asks(f"{text}?")),
    "forget by topic": lambda text: (LIKENESS.about("the dog", text, None), likeness.telling_part(text, "the dog")),
    "forget by a long topic": lambda text: (LIKENESS.about(text, text, None), likeness.roots(text)),
    "likeness": lambda text: LIKENESS.same_claim(text, f"{text} x", 0.95),
    "figures and names": lambda text: (figures.figures(text), figures.telling_figures(text), names.names(text)),
    "sentences": sentences.sentences,
    "restated": lambda text: restated.restates(text, f"{text} not"),
    "words for BM25": relevance.words,
    "terms of a query": terms.query_terms,
    "quoting": lambda text: (render.quoted(text), render.escaped(text)),
    "rendering": lambda text: [render.render([render.memory_line(memory(text))], form) for form in FORMS],
    "printing": printed,
    "one line": lambda text: (terminal.clean(text), terminal.one_line(text, 80)),
    "transcripts": ingested,
    "exports": lambda text: list(as_export(text)),
    "answers": lambda text: answers.read_answer(EXTRACT, text, EXTRACTION),
    "answers in JSON": lambda text: answers.read_answer(EXTRACT, f'{{"memories":[{text}', EXTRACTION),
    "broken answers": lambda text: answers.read_answer(EXTRACT, f"[{{'a'{text}", EXTRACTION),
    "quotes": lambda text: (quotes.find_quote(text, text), quotes.find_quote(f"{text[:-2]} zz", text)),
    "evidence": lambda text: quotes.find_evidence("the dog word", None, ["t1"], [turn(text)]),
    "support": lambda text: support.why_unsupported(text[: len(text) // 4], text[:100], spoken(text)),
    "values taken back": corrected,
    "sections": read_sections,
    "prompt files": parsed_prompt,
    "documents for a model": lambda text: as_document(ExtractInput(before=[], turns=[turn(text)])),
    "tokens": lambda text: (COUNTER.count(text), COUNTER.truncate(text, 50)),
    "cutting": lambda text: (list(cut(text, 1000)), parts_of({"t": text})),
    "corrections": lambda text: says(text, text, text[: len(text) // 2]),
    "matching": lambda text: reprocess.likeness(memory(text), memory(f"{text} x")),
    "hashed vectors": embed_text,
    "tokens of MiniLM": lambda text: encoder().encode(text[:20_000].encode(errors="replace").decode()),
    "full text of the engine": Analyzer("en-US").terms,
    "SQL of the engine": sql,
    "patterns of the engine": matched,
    "content hash": content_hash,
}
FORMS: tuple[Any, ...] = ("sections", "bullets", "xml")


def spoken(text: str) -> list[Spoken]:
    """Turns that a memory may cite, none of them so long that only a part is read."""
    return [Spoken(text[at : at + 1000], NOW, "Ann") for at in range(0, len(text), 1000)]


class TooSlow(Exception):
    """A run took more processor time than it may."""


def _stop(number: int, frame: FrameType | None) -> None:
    raise TooSlow


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Ends what takes too long. Python's pattern engine minds signals, too."""
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def caches() -> list[Any]:
    """What remembers texts: a text that was seen would cost nothing."""
    found = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(("agent_memory.", "embedded_cosmos.")) and name != "agent_memory.text.patterns":
            for value in vars(module).values():
                if hasattr(value, "cache_clear") and value.cache_parameters()["maxsize"]:
                    found[id(value)] = value
    return list(found.values())


def seconds(call: Callable[[str], object], text: str) -> float:
    for one in CACHES:
        one.cache_clear()
    began = time.process_time()
    with contextlib.suppress(AgentMemoryError, CosmosError, ValueError, RecursionError):
        call(text)
    return time.process_time() - began


CACHES: list[Any] = []


def fault(entry: str, family: str) -> str | None:
    """What is wrong with the time that an entry point takes for a family of texts; None if nothing is."""
    call = ENTRIES[entry]
    try:
        with limited():
            sizes = SIZES if FULL else BEYOND.get(entry, (*SIZES, 32_000) if family in LONG else SIZES)
            for size in sizes:
                taken = seconds(call, text_of(family, size))
                if taken >= FLOOR and (found := too_fast(call, family, size, taken)):
                    return f"{family}: {'; '.join(found)}"
    except TooSlow:
        return f"{family}: not done within {LIMIT} s"
    return None


def too_fast(call: Callable[[str], object], family: str, size: int, taken: float) -> list[str]:
    """By how much the time for a text, and for one of twice the length, grew too fast; nothing if either did not."""
    found = []
    for longer, known in ((size, taken), (2 * size, math.inf)):
        taken, exponent = growth(call, family, longer, known)
        if exponent <= EXPONENT or taken < FLOOR:
            return []
        found.append(f"{longer} characters take {taken:.3f} s, which grows with the power of {exponent:.2f}")
    return found


def growth(call: Callable[[str], object], family: str, size: int, known: float) -> tuple[float, float]:
    """The seconds that a text takes, and with which power of the length they grew since a quarter of it.

    `known` is the time that the text took before; infinity if it was not tried.
    """
    long, short = text_of(family, size), text_of(family, size // 4)
    taken, before = known, math.inf
    for number in range(3):
        if number or known == math.inf:
            taken = min(taken, seconds(call, long))
        before = min(before, seconds(call, short))
        exponent = math.log(max(taken, 1e-6) / max(before, 1e-6)) / math.log(len(long) / len(short))
        if exponent <= EXPONENT:
            break
    return taken, exponent


@pytest.fixture(scope="module", autouse=True)
def warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Loads what is loaded once: stemmers, ranks of tokens, the segmenter of sentences."""
    global SCRATCH
    SCRATCH = tmp_path_factory.mktemp("growth")
    for call in ENTRIES.values():
        with contextlib.suppress(AgentMemoryError, CosmosError, ValueError):
            call("I moved to Rome on May 3, 2020. Is it so?")
    CACHES.extend(caches())


@pytest.mark.parametrize("entry", ENTRIES)
def test_time_grows_with_the_text_and_no_faster(entry: str) -> None:
    faults = [found for family in FAMILIES if (found := fault(entry, family)) is not None]
    assert not faults, "\n".join(faults)


def test_there_are_enough_families() -> None:
    assert len(FAMILIES) >= 40


def test_a_slow_rule_is_found() -> None:
    """Quadratic and endless rules fail, a linear one passes."""
    try:
        ENTRIES["quadratic"] = lambda text: [sum(1 for _ in text[:at]) for at in range(0, len(text), 9)]
        ENTRIES["linear"] = lambda text: [sum(range(40)) for _ in text]
        assert "grows" in (fault("quadratic", "a long word") or "")
        assert fault("linear", "a long word") is None
    finally:
        del ENTRIES["quadratic"], ENTRIES["linear"]
