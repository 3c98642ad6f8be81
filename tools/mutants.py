"""Break the code in one place at a time, and see whether a test notices.

`make cover` records which test runs which line. `make mutants` then takes a sample of small changes (a comparison
turned round, a guard or a write dropped, a number off by one …), makes each in a copy of the tree, and runs the tests
that run the changed line, the fastest first. A change that no test notices survives: a guard that nothing shows.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter, defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue

from coverage import CoverageData
from mutations import Mutant, mutants_of

ROOT = Path(__file__).parents[1]
LIBRARY = "sdk/agent_memory"
ENGINE = "sdk/embedded_cosmos/src/embedded_cosmos"
ROOMS = {
    name: f"{LIBRARY}/{name}"
    for name in ("store", "steps", "processing", "forgetting", "screening", "rules", "scopes", "api")
} | {
    "recall": f"{LIBRARY}/recall",
    "engine": ENGINE,
}
COVERAGE, TIMES = ".coverage", ".coverage-times.xml"
MOST_SECONDS = 20.0
"""Longest total time of a mutant's tests, in recorded seconds. More would only add slower tests."""


@dataclass
class Record:
    """Which tests ran which line, and how long each test took."""

    data: CoverageData
    seconds: dict[str, float]

    @classmethod
    def read(cls, root: Path) -> Record:
        for name in (COVERAGE, TIMES):
            if not (root / name).exists():
                raise SystemExit(f"There is no {name}. Run `make cover` first: it records which test runs which line.")
        data = CoverageData(str(root / COVERAGE))
        data.read()
        seconds: dict[str, float] = {}
        for case in ElementTree.parse(root / TIMES).iter("testcase"):
            if not len(case):  # neither failed nor skipped
                seconds[f"{case.get('classname')}::{case.get('name')}"] = float(case.get("time") or 0)
        return cls(data, seconds)

    def tests(self, file: Path, line: int, inside: bool) -> list[str]:
        """The tests to run for a line, fastest first. For a line outside functions, the tests that run the module."""
        contexts = self.data.contexts_by_lineno(str(file))
        lines = [line] if inside else list(contexts)
        names = {name.rpartition("|")[0] for number in lines for name in contexts.get(number, []) if name}
        timed = sorted((self.seconds[key], name) for name in names if (key := _junit_name(name)) in self.seconds)
        chosen: list[str] = []
        left = MOST_SECONDS
        for seconds, name in timed:
            left -= seconds
            if chosen and left < 0:
                break
            chosen.append(name)
        return chosen


def _junit_name(test: str) -> str:
    path, _, name = test.partition("::")
    return f"{path.removesuffix('.py').replace('/', '.')}::{name}"


@dataclass
class Run:
    """Tests mutants in copies of the tree until the time is up."""

    root: Path
    record: Record
    ends: float
    verdicts: dict[Mutant, str] = field(default_factory=dict)

    def judge(self, tree: Path, mutant: Mutant) -> None:
        """Notes `killed`, `survived`, `not run` (no test runs the line) or nothing, if the time was up."""
        tests = self.tests_of(mutant)
        if not tests:
            self.verdicts[mutant] = "not run"
            return
        file = tree / mutant.path
        source = file.read_bytes()
        try:
            file.write_bytes(mutant.apply(source))
            passes = self.passes(tree, tests)
        finally:
            file.write_bytes(source)
        if passes is not None:
            self.verdicts[mutant] = "survived" if passes else "killed"

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests to run for a mutant."""
        file = self.root / mutant.path
        return self.record.tests(file, *_place(file.read_bytes(), mutant.line))

    def passes(self, tree: Path, tests: Sequence[str]) -> bool | None:
        """Whether tests pass; None if the time was up. A test that takes far longer than recorded counts as failed."""
        usual = 60 + 5 * sum(self.record.seconds[_junit_name(test)] for test in tests)
        left = self.ends - time.monotonic()
        if left <= 0:
            return None
        path = os.pathsep.join([str(tree / "sdk"), str((tree / ENGINE).parent)])
        environment = {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}  # also in their processes
        command = [sys.executable, "-m", "pytest", "-n", "0", "-x", "-p", "no:cacheprovider", *tests]
        options = {"cwd": tree, "env": environment, "capture_output": True, "text": True}
        try:
            done = subprocess.run(command, timeout=min(usual, left), check=False, **options)  # type: ignore[call-overload]
        except subprocess.TimeoutExpired:
            return None if usual > left else False
        if done.returncode in (3, 5) or (done.returncode == 4 and "while loading conftest" not in done.stderr):
            raise SystemExit(f"pytest could not run {' '.join(tests)}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return bool(done.returncode == 0)


def _place(source: bytes, line: int) -> tuple[int, bool]:
    """The first line of a line's statement, which coverage records, and whether it is inside a function."""
    first, inside = line, False
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.body[0].lineno <= line:
            inside = inside or line <= (node.end_lineno or 0)
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None) or getattr(node, "cases", None)
            last = (node.end_lineno or 0) if body is None else getattr(body[0], "lineno", line + 1) - 1
            first = node.lineno if node.lineno <= line <= last else first
    return first, inside


def choose(root: Path, rooms: Sequence[str], base: str | None, seed: int) -> list[Mutant]:
    """The mutants of some rooms, one of each in turn. With `base`, only of lines that differ from that commit."""
    changed = _changed_lines(root, base) if base else None
    queues: list[list[Mutant]] = []
    for room in rooms:
        found: list[Mutant] = []
        for file in sorted((root / ROOMS[room]).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if changed is None or path in changed:
                mutants = mutants_of(path, file.read_bytes())
                found += [mutant for mutant in mutants if changed is None or mutant.line in changed[path]]
        random.Random(f"{seed} {room}").shuffle(found)
        queues.append(found)
    return [queue[n] for n in range(max(map(len, queues), default=0)) for queue in queues if n < len(queue)]


def _changed_lines(root: Path, base: str) -> dict[str, set[int]]:
    diff = subprocess.run(
        ["git", "diff", "-U0", base, "--", "*.py"], cwd=root, capture_output=True, text=True, check=True
    )
    lines: dict[str, set[int]] = defaultdict(set)
    path = ""
    for row in diff.stdout.splitlines():
        if row.startswith("+++ "):
            path = row[4:].removeprefix("b/")
        elif hunk := re.match(r"@@ \S+ \+(\d+)(?:,(\d+))? @@", row):
            first, count = int(hunk[1]), int(hunk[2] or 1)
            lines[path] |= set(range(first, first + count))
    return lines


def copy_of(root: Path, tree: Path) -> Path:
    """A copy of the files that git tracks or would add."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    for name in filter(None, names.split("\0")):
        if (root / name).is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, tree / name)
    return tree


def report(verdicts: dict[Mutant, str], known: int, root: Path) -> None:
    """Prints what survived, and the score of each room."""
    tally: dict[str, Counter[str]] = defaultdict(Counter)
    for mutant, verdict in verdicts.items():
        room = next(name for name, folder in ROOMS.items() if mutant.path.startswith(f"{folder}/"))
        tally[room][verdict] += 1
        if verdict != "killed":
            line = (root / mutant.path).read_text().splitlines()[mutant.line - 1].strip()
            print(f"{verdict}: {mutant.path}:{mutant.line}: {mutant.what}\n    {line}")
    for room, counts in [*tally.items(), ("all", sum(tally.values(), Counter()))]:
        total = sum(counts.values())
        print(f"{room:12} {counts['killed']:4} of {total:4} mutants noticed, {100 * counts['killed'] / total:3.0f} %")
    print(f"{len(verdicts)} mutants of {known} were judged.")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", default=",".join(ROOMS), help=f"some of {','.join(ROOMS)}")
    parser.add_argument("--base", help="only lines that differ from this commit")
    parser.add_argument("--sample", type=int, default=200, help="how many mutants at most")
    parser.add_argument("--seed", type=int, default=0, help="the seed of the sample")
    parser.add_argument("--seconds", type=float, default=1800, help="when to stop judging")
    parser.add_argument("--jobs", type=int, default=2, help="how many mutants are tested at the same time")
    options = parser.parse_args()
    mutants = choose(ROOT, options.rooms.split(","), options.base, options.seed)
    if not mutants:
        print("There is nothing to change: no line of these rooms differs from the base.")
        return
    run = Run(ROOT, Record.read(ROOT), time.monotonic() + options.seconds)
    waiting: SimpleQueue[Mutant] = SimpleQueue()
    for mutant in mutants[: options.sample]:
        waiting.put(mutant)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:

        def judge_all(tree: Path) -> None:
            while time.monotonic() < run.ends:
                try:
                    run.judge(tree, waiting.get_nowait())
                except Empty:
                    return

        trees = [copy_of(ROOT, Path(folder) / str(n)) for n in range(options.jobs)]
        first = next((tests for mutant in mutants if (tests := run.tests_of(mutant))), [])
        if not first or run.passes(trees[0], first) is False:
            raise SystemExit(f"The tests do not pass on the unchanged code, or there are none: {' '.join(first)}")
        list(pool.map(judge_all, trees))
    if not run.verdicts:
        print("No mutant was judged in time. Give more with --seconds.")
        return
    report(run.verdicts, len(mutants), ROOT)


if __name__ == "__main__":
    main()
