"""Patterns of Python's own engine, which goes back and can be made to do so for ever, and why each of them cannot.

Whatever else meets text from outside runs on RE2 (`patterns.linear`), or reads short texts only (`patterns.bounded`).
"""

from __future__ import annotations

import ast
import gc
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from ambiguity import exponential

from agent_memory.text.patterns import Bounded, Linear

ROOT = Path(__file__).parents[2]
ENGINE = "sdk/embedded_cosmos/src/embedded_cosmos"
HOST = "sdk/functions_host/src/functions_host"
SOURCES = ("sdk/agent_memory", ENGINE, HOST, "azure_functions")
OFFLINE = "sdk/agent_memory/language/offline"
DATES = "sdk/agent_memory/text/dates.py"

CLASS = "one class without a repeat: it reads every character once"
RUN = "one repeat of one class with nothing behind it: it never goes back"
SHORT = "no open repeat: it reads a bounded number of characters at each place"
OURS = "reads what we wrote (docstrings, routes): no text from outside"

PROOFS: dict[tuple[str, str], str] = {
    ("sdk/agent_memory/store/vectors.py", r"(?<=, )c\.embedding(_model)?(?=, | FROM )"): OURS,
    ("sdk/agent_memory/store/vectors.py", r"\bc\.embedding(_model)?\b"): OURS,
    ("sdk/agent_memory/contract/endpoint.py", r"^    (\w+): (.*(?:\n {6,}.*)*)"): OURS,
    ("sdk/agent_memory/contract/endpoint.py", r"{(\w+)}"): OURS,
    ("sdk/agent_memory/contract/endpoint.py", r"^(Args|Attributes|Returns|Raises|Example):\n"): OURS,
    ("sdk/agent_memory/language/grounding/quotes.py", r"\s+|\.{3}|…"): RUN,
    ("sdk/agent_memory/language/offline/kinds.py", r"[\w'-]+"): RUN,
    ("sdk/agent_memory/language/offline/statements.py", r"\S"): CLASS,
    (
        "sdk/agent_memory/language/offline/text.py",
        r"\b(i|he|she|it|that|this|there|what|here|who|where|how|name|title|birthday|anniversary|budget|deadline)'s\b"
        r"|(?<=\w)'s(?= (?:the|a|an|my|our|not|in|on|at|going|called|now|been|coming|leaving|moving|retiring|quitting"
        r"|having|getting|starting|working|taking|training|\d))",
    ): SHORT,
    (
        "sdk/agent_memory/language/offline/text.py",
        r"(?<=\w)'s(?= (?:just |finally |now )?(?:moved|quit|joined|retired|got|started|stopped"
        r"|left(?:[.,!]| (?:the|my|our|us|her|his|for|home|work)\b|$)))",
    ): SHORT,
    (
        "sdk/agent_memory/language/offline/text.py",
        """"(?<![\\\\w'])(" + '|'.join(sorted(map(re.escape, lexicon.CONTRACTIONS), key=len, reverse=True))"""
        """ + ")(?![\\\\w'])\"""",
    ): SHORT,
    (
        "sdk/agent_memory/language/offline/text.py",
        r"[$€£¥]?\d[\d,.:/]*\d[a-z%]*|[$€£¥]?\d[a-z%]*|[^\W\d_][\w'&+#./-]*[\w+#]|[^\W_]|&",
    ): "goes back to the last digit or letter of a run, and none follows from which the run is read again",
    (
        "sdk/agent_memory/language/offline/text.py",
        r"^\s*(?:[-*•]\s+|\d{1,2}[.)]\s+|#{1,6}\s+)?",
    ): "matched at the beginning of a line; all behind the first repeat is optional, so it never goes back",
    (
        "sdk/agent_memory/language/offline/text.py",
        r"(?<=[a-z][.!?])(?=[A-Z][a-z])|(?<![A-Z])(?<=[a-z]{4}[.!?])\s+(?=[A-Z])"
        r"|(?<=[a-z]{3}[.!?])\s+(?=(?:i|im|we|my|our|the|and|also|please|never|always|no|decided)\b[ ':])"
        r"|(?<= [A-Z]\.)\s+(?=(?:I|We|My|Our|The|He|She|They|It)\b[ '’])"
        r"|(?<=[a-z]{5}[.!?])\s+(?=[a-z]{3})|(?<=\d{3}[.!?])\s+(?=[a-z]{3})",
    ): "the repeat begins behind a full stop alone: a gap is read once and given back once",
    (
        "sdk/agent_memory/language/offline/text.py",
        r"\b(\w+)(n't|'m|'re|'ve|'ll|'d)\b",
    ): "begins at the beginning of a word alone: a word is read once and given back once",
    ("sdk/agent_memory/language/offline/topics.py", r"[a-z][\w'-]+"): RUN,
    (
        "sdk/agent_memory/language/requests.py",
        r"<(?=[|｜/\w<])|\[(?=/?[A-Z][A-Z_]*\])|[\u0085\u2028\u2029]",
    ): "the repeat begins behind a bracket and takes none: no character is read by two attempts",
    ("sdk/agent_memory/text/patterns.py", r"\w+"): RUN,
    ("sdk/agent_memory/text/patterns.py", "[\ud800-\udfff]"): CLASS,
    ("sdk/agent_memory/text/patterns.py", r"f'\\s{{{WIDEST_GAP + 1}}}'"): SHORT,
    (
        "sdk/agent_memory/text/patterns.py",
        "pattern",
    ): "the engine of bounded patterns: they read 1,000 characters at most, and none is exponential (below)",
    (
        "sdk/agent_memory/text/patterns.py",
        r"(?:[^\\\[\]]|\\x\{\w+\}|\\x\w\w)-(?:[^\x00-\x7f]|\\x\{\w+\}|\\x\w\w)"
        r"|\\(?:x\{\w+\}|x\w\w|[pP]\{\^?\w+\}|[pP]\w|.)|\[\^?\]?|\]|[^\x00-\x7f]",
    ): "each open repeat begins behind a brace, so no run is read twice",
    ("sdk/agent_memory/steps/gather.py", r"\s"): CLASS,
    (
        "sdk/agent_memory/text/sentences.py",
        r"f'(?<=[.!?؟…])(?!{_DAY} {_MONTH})\\s+|(?<=[。！？])\\s*|\\n\\s*'",
    ): RUN,
    ("sdk/agent_memory/recall/relevance.py", r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|_"): SHORT,
    ("sdk/agent_memory/recall/relevance.py", r"f'[{CJK}]+|[^\\W{CJK}]+'"): RUN,
    ("sdk/agent_memory/recall/relevance.py", r"f'[{CJK}]'"): CLASS,
    (
        "sdk/agent_memory/text/terms.py",
        r'''f"[{CJK}]+|[^\\W{CJK}]+(?:[.,:'’\\-][^\\W{CJK}]+)*"''',
    ): "marks are no signs of words, and nothing follows: it goes back by one mark at most",
    ("sdk/agent_memory/text/terms.py", r"f'[{CJK}]'"): CLASS,
    (
        "sdk/agent_memory/text/figures.py",
        r"\d+(?:[.,:]\d+)*",
    ): "marks are no digits, and nothing follows: it goes back by one mark at most",
    (f"{ENGINE}/query/analysis.py", r"f'[{_CJK}]|[^\\W{_CJK}]+'"): RUN,
    (
        f"{ENGINE}/sql/functions/dates.py",
        r"(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,7}))?(?:Z|([-+])(\d{2}):(\d{2}))?)?",
    ): SHORT,
    (
        f"{ENGINE}/sql/lexer.py",
        """(?P<space>(?:\\s|--[^\\n]*)+)
    |(?P<number>(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:[eE][-+]?\\d+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<parameter>@[A-Za-z0-9_]+)
    |(?P<string>"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*')
    |(?P<operator>>>>|<<|>>|<=|>=|!=|<>|\\|\\||\\?\\?|[-+*/%&|^~=<>?:.,()\\[\\]{}])""",
    ): "nothing behind a repeat can fail but the end of a string, and a string without one ends the reading",
    (f"{ENGINE}/sql/lexer.py", r'\\.|"'): SHORT,
    (f"{ENGINE}/sql/printer.py", r"[A-Za-z_][A-Za-z0-9_]*"): RUN,
    (f"{HOST}/http.py", r"\{[^}]*:"): OURS,
    (f"{HOST}/http.py", r"(.*)/\{(\w+)\?\}"): OURS,
    (f"{HOST}/http.py", r"\{\*(\w+)\}"): OURS,
    (
        f"{HOST}/settings.py",
        r"%([^%\s]+)%",
    ): "the operator's own settings; the repeat begins behind a percent sign and takes none",
}


class Use(NamedTuple):
    """A pattern where it is written: its text, or its expression if it is put together."""

    path: str
    pattern: str


def uses() -> Iterator[Use]:
    """Every pattern that is given to the `re` module, and every name taken from it."""
    for path, tree in modules():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "re":
                yield Use(path, f"from re import {', '.join(name.name for name in node.names)}")
            if isinstance(node, ast.Import) and any(name.name == "re" and name.asname for name in node.names):
                yield Use(path, "import re under another name")
            if _is_of_re(node):
                assert isinstance(node, ast.Call)
                yield Use(path, _written(node.args[0] if node.args else node))


@cache
def modules() -> list[tuple[str, ast.Module]]:
    files = [file for source in SOURCES for file in sorted((ROOT / source).rglob("*.py"))]
    return [(str(file.relative_to(ROOT)), ast.parse(file.read_text())) for file in files]


NO_PATTERNS = {"escape", "error", "purge"}


def _is_of_re(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr not in NO_PATTERNS
    )


def _written(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ast.unparse(node)


def test_every_pattern_of_pythons_engine_is_known_with_its_proof() -> None:
    found = set(uses())
    unknown = [use for use in found if use not in PROOFS]
    assert not unknown, (
        f"{unknown}: use `linear` or `bounded` of agent_memory.text.patterns, or prove it linear and list it"
    )
    assert not [use for use in PROOFS if use not in found], "the list holds patterns that are gone"


@pytest.mark.parametrize("use", sorted(use for use, proof in PROOFS.items() if proof in (CLASS, RUN, SHORT)))
def test_a_proof_by_shape_is_true(use: tuple[str, str]) -> None:
    """A class has no repeat, a run one open repeat at the end of each way, a short one no open repeat."""
    path, written = use
    module = _module(path)
    pattern = _evaluated(ast.parse(written, mode="eval").body, module) if _is_expression(written) else written
    assert isinstance(pattern, str)
    tree = re._parser.parse(pattern)  # type: ignore[attr-defined]
    open_inside, open_at_end = _open_repeats(list(tree))
    if PROOFS[use] == RUN:
        assert (open_inside, open_at_end > 0) == (0, True)
    else:
        assert open_inside + open_at_end == 0
    if PROOFS[use] == CLASS:
        assert tree.getwidth() == (1, 1)


def _open_repeats(items: list[object]) -> tuple[int, int]:
    """How many repeats without an end stand inside the ways of a pattern, and how many, of one class, at their ends."""
    inside = at_end = 0
    for number, (op, argument) in enumerate(items):  # type: ignore[misc]
        is_last = number == len(items) - 1
        name = str(op)
        if name == "BRANCH":
            parts = [_open_repeats(list(branch)) for branch in argument[1]]
        elif name == "SUBPATTERN":
            parts = [_open_repeats(list(argument[-1]))]
        elif name in ("ASSERT", "ASSERT_NOT"):
            parts = [(sum(_open_repeats(list(argument[1]))), 0)]
        elif name.endswith("REPEAT"):
            within = sum(_open_repeats(list(argument[2])))
            is_class = argument[2].getwidth() == (1, 1)
            is_open = argument[1] > 20
            parts = [(within + (is_open and not is_class), int(is_open and is_class))]
        else:
            parts = []
        for part_inside, part_at_end in parts:
            inside += part_inside + (0 if is_last else part_at_end)
            at_end += part_at_end if is_last else 0
    return inside, at_end


def _is_expression(written: str) -> bool:
    return written.startswith(("f'", 'f"', '"'))


def _module(path: str) -> object:
    relative = path.partition("/src/")[2] or path.removeprefix("sdk/")
    return importlib.import_module(relative.removesuffix(".py").replace("/", "."))


EXAMPLES = {"names": ("Ann", "Al"), "said": "due date", "status": "single", "name": "Lisbon"}
"""What stands in the patterns that are made for a text."""


def _evaluated(node: ast.expr, module: object) -> object:
    return eval(compile(ast.Expression(node), "pattern", "eval"), {**vars(module), **EXAMPLES})


MADE_OF = {"pattern", "known"}
"""Names inside of functions and comprehensions; their patterns are found among those that were made."""


def bounded_patterns() -> dict[str, int]:
    """All patterns that are bounded, with their flags."""
    found: dict[str, int] = {}
    for path, tree in modules():
        if not path.startswith((OFFLINE, DATES)):
            continue
        module = _module(path)
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bounded":
                try:
                    pattern = _evaluated(node.args[0], module)
                except NameError as error:
                    if error.name in MADE_OF:
                        continue
                    raise
                flags = _evaluated(node.args[1], module) if len(node.args) > 1 else 0
                assert isinstance(pattern, str)
                assert isinstance(flags, int)
                found[pattern] = found.get(pattern, 0) | flags
    text = importlib.import_module("agent_memory.language.offline.text")
    text.openings()
    for made in gc.get_objects():
        if isinstance(made, Bounded):
            found[made.pattern] = found.get(made.pattern, 0) | (made._compiled.flags & re.IGNORECASE)
    return found


def test_no_bounded_pattern_is_exponential() -> None:
    found = bounded_patterns()
    assert len(found) > 120
    assert [pattern for pattern, flags in found.items() if exponential(pattern, flags)] == []


def test_every_linear_pattern_can_be_compiled() -> None:
    """They are compiled at their first use: a wrong one must not wait for a text that meets it."""
    for path, _ in modules():
        if path.startswith("sdk/agent_memory/") and not path.endswith("__main__.py") and "/integrations/" not in path:
            _module(path.removesuffix("/__init__.py"))
    gc.unfreeze()  # collected tests have imported most of them, and conftest freezes those
    made = [one for one in gc.get_objects() if type(one) is Linear]
    gc.freeze()
    assert len(made) > 120
    for pattern in made:
        pattern.search("")


def test_bounded_patterns_are_made_nowhere_else() -> None:
    makers = {
        path
        for path, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module == "agent_memory.text.patterns"
        and any(name.name in ("bounded", "Bounded") for name in node.names)
    }
    assert all(path.startswith((OFFLINE, DATES)) for path in makers), makers


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (r"(a*)*b", True),
        (r"(?:a|a)*b", True),
        (r"(?: +.*\n)*x", True),
        (r"(?:\w+\s*)+$", True),
        (r"(?=(?:a*)*b)x", True),
        (r"(?:\w+ )*x", False),
        (r"(?:have |had |just )*x", False),
        (r"\w+\s+\w+", False),
        (r"(?:,\s*\w+)*x", False),
        (r"(?i:(?:ab|AB)*)c", True),
        (r"(?:ab|AB)*c", False),
    ],
)
def test_the_check_knows_exponential_patterns(pattern: str, expected: bool) -> None:
    assert exponential(pattern) is expected
