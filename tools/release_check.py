"""Whether a tag may be released: it is the version of all packages, and the changelog describes it.

python tools/release_check.py v0.3.0
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("", "sdk/embedded_cosmos")
"""The folders of the packages that are published together."""
NPM_PACKAGE = "clients/typescript/package.json"


def problems(tag: str, root: Path = ROOT) -> list[str]:
    """The reasons why this tag must not be released; none if it may be."""
    version = tag.removeprefix("v")
    found = [] if tag.startswith("v") else [f"the tag {tag!r} does not begin with v, as in v0.3.0"]
    for package in PACKAGES:
        folder = root / package
        here = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["version"]
        if here != version:
            found.append(f"{folder / 'pyproject.toml'} says {here}, the tag {version}")
        if f"\n## {version}\n" not in (folder / "CHANGELOG.md").read_text():
            found.append(f"{folder / 'CHANGELOG.md'} has no section {version!r}: rename Unreleased, add an empty one")
    client = json.loads((root / NPM_PACKAGE).read_text())["version"]
    if client != version:
        found.append(f"{root / NPM_PACKAGE} says {client}, the tag {version}")
    return found


def main() -> int:
    """Prints the reasons against a release."""
    found = problems(sys.argv[1] if len(sys.argv) > 1 else "")
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
