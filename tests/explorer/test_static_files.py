"""The files of the page: what they may not contain, how large they are, and where the vendored one comes from."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_memory.explorer.page import DATA_MARK, bundle, one_file, static_files, template

ROOT = Path(__file__).parents[2]
OWN = {name: content.decode() for name, content in static_files().items() if not name.startswith("vendor/")}
SCRIPTS = {name: text for name, text in OWN.items() if name.endswith(".js")}
FORBIDDEN = (
    "innerHTML", "outerHTML", "insertAdjacent", "dangerouslySet", "document.write", "eval(", "new Function", "srcdoc",
    "createContextualFragment", "DOMParser", "javascript:", "localStorage", "sessionStorage", "document.cookie",
)  # fmt: skip
BUDGET = 250_000


def test_untrusted_text_has_no_way_but_text_nodes():
    assert len(SCRIPTS) > 10
    for name, text in SCRIPTS.items():
        assert [word for word in FORBIDDEN if word in text] == [], name


def test_the_page_has_no_inline_script_style_or_foreign_address():
    page = OWN["index.html"]
    assert re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", page) == []
    assert "<style" not in page
    assert " style=" not in page
    assert re.findall(r"\son\w+=", page) == []
    for name, text in OWN.items():
        assert re.findall(r"https?://|//cdn", text) == [], name


def test_all_files_together_are_small():
    assert sum(len(content) for content in static_files().values()) < BUDGET


def test_the_vendored_file_is_the_one_that_the_notice_names():
    [(name, content)] = [(name, content) for name, content in static_files().items() if name.startswith("vendor/")]
    notice = (ROOT / "NOTICE").read_text()
    assert name.removeprefix("vendor/") in notice
    assert hashlib.sha256(content).hexdigest() in notice


def test_each_module_imports_only_what_there_is():
    for name, text in SCRIPTS.items():
        named = re.findall(r'from "([^"]+)"', text)
        assert all(one.startswith("./") and one[2:] in static_files() for one in named), name


def test_the_data_of_a_file_cannot_end_its_element():
    hostile = "</script><script>alert(1)</script><!--\u2028"
    made = one_file({"title": hostile, "answers": {hostile: hostile}})
    assert made.count("</script>") == template().count("</script>")
    assert "<!--" not in made.partition('id="explorer-data"')[2].partition("<script>")[0]
    assert DATA_MARK not in made.partition('id="explorer-data"')[2].partition("</script>")[0]


@pytest.mark.skipif(shutil.which("node") is None, reason="node, which reads the script, is not here")
def test_the_one_script_is_javascript(tmp_path: Path):
    file = tmp_path / "bundle.js"
    file.write_text(bundle())
    done = subprocess.run(["node", "--check", str(file)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
