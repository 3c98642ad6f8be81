"""The files of the explorer, and the one file that holds a page of it with its data.

The modules in `static` are ES modules with one form of `import` and `export`, so that a few lines of code can join them
into one script. In the served page, the browser loads the modules directly.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any

from agent_memory.text.patterns import linear

ENTRY = "app.js"
TYPES = {"html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
DATA_ID = "explorer-data"
DATA_MARK = "EXPLORER-DATA"
"""Stands where the data belongs: the page that exports itself puts its own there."""
_IMPORT = linear(r'(?m)^import (\{[^}]*\}) from "\./([\w./-]+)";$')
_EXPORT = linear(r"(?m)^export ((?:async )?(?:function|const|let|class) (\w+))")
_EXPORT_LIST = linear(r"export\{([^}]*)\};?\s*$")
_AS = linear(r"(\w+) as (\w+)")


@lru_cache(maxsize=1)
def static_files() -> Mapping[str, bytes]:
    """The files by their names below `/ui/`."""
    root = files("agent_memory.explorer") / "static"
    found = {file.name: file.read_bytes() for file in root.iterdir() if file.is_file()}
    vendored = root / "vendor"
    found |= {f"vendor/{file.name}": file.read_bytes() for file in vendored.iterdir() if file.is_file()}
    return {name: content for name, content in found.items() if name.rpartition(".")[2] in TYPES}


@lru_cache(maxsize=1)
def template() -> str:
    """The page as one file, with `DATA_MARK` in place of its data. It runs its own script and nothing else."""
    script, style = bundle(), static_files()["app.css"].decode()
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:;"
        " base-uri 'none'; form-action 'none'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>Agent Memory</title>
<style>{style}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="{DATA_ID}">{DATA_MARK}</script>
<script>{script}</script>
</body>
</html>
"""


def one_file(data: Mapping[str, Any]) -> str:
    """The page with its data, to be opened without a server.

    Args:
        data: `title`, `at` (when it was made), `route` (the state that it opens with) and `answers`, by request.
    """
    # JSON within HTML: no `<` may start a tag. Non-ASCII is escaped, so that no line separator is left.
    text = json.dumps(data).replace("<", "\\u003c")
    return template().replace(f">{DATA_MARK}<", f">{text}<", 1)


@lru_cache(maxsize=1)
def bundle() -> str:
    """The modules as one script, each before those that import it."""
    done: dict[str, str] = {}

    def add(name: str) -> None:
        if name in done:
            return
        done[name] = ""  # a ring of imports ends here, and fails when the script runs
        source = static_files()[name].decode()
        for _, needed in _IMPORT.findall(source):
            add(needed)
        body, exported = _as_function(source)
        del done[name]  # so that it comes after what it imports
        done[name] = f"modules[{json.dumps(name)}] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n"

    add(ENTRY)
    return '"use strict";\n(() => {\nconst modules = {};\n' + "".join(done.values()) + "})();\n"


def _as_function(source: str) -> tuple[str, str]:
    """A module as the body of a function, and the names that it exports."""
    body = _IMPORT.sub(lambda found: f"const {_renamed(found[1])} = modules[{json.dumps(found[2])}];", source)
    names = [name for _, name in _EXPORT.findall(body)]
    body = _EXPORT.sub(r"\1", body)
    listed = _EXPORT_LIST.search(body)
    if listed is None:
        return body, ", ".join(names)
    pairs = [one.split(" as ") for one in listed[1].split(",")]
    return body[: listed.start()], ", ".join(f"{pair[-1]}: {pair[0]}" for pair in pairs)


def _renamed(names: str) -> str:
    """The names of an import as a pattern of an assignment."""
    return _AS.sub(r"\1: \2", names)


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
