"""Bicep as the checks read it and work it out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infra_check.bicep_evaluation import deploy
from infra_check.bicep_symbols import faults, load_all
from infra_check.bicep_tokens import BicepError


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def files(main: str, **modules: str) -> Path:
        for name, text in {"main": main, **modules}.items():
            (tmp_path / f"{name}.bicep").write_text(text)
        return tmp_path / "main.bicep"

    return files


def outputs(main: Path, **parameters: Any) -> dict[str, Any]:
    return deploy(main, load_all(main, main.parent), parameters).outputs


@pytest.mark.parametrize(
    ("expression", "type_", "value"),
    [
        ("'it''s'", "string", None),
        (r"'a\'b ${1 + 2} \${x}'", "string", "a'b 3 ${x}"),
        ("'${'inner ${'most'}'}'", "string", "inner most"),
        ("'''two\nlines'''", "string", "two\nlines"),
        ("1 + 2 == 3 && !false || false", "bool", True),
        ("true ? 1 : false ? 2 : 3", "int", 1),
        ("null ?? 'other'", "string", "other"),
        ("-1", "int", -1),
        ("[for i in [1, 2]: i + 1]", "array", [2, 3]),
        ("[for (word, i) in ['a', 'b']: '${word}${i}']", "array", ["a0", "b1"]),
        ("map([1, 2], n => { size: n })", "array", [{"size": 1}, {"size": 2}]),
        ("union({ a: { b: 1 }, l: [1] }, { a: { c: 2 }, l: [2] })", "object", {"a": {"b": 1, "c": 2}, "l": [2]}),
        ("{\n  'a-b': 1 // a comment\n  c: [\n    1\n    2\n  ]\n}", "object", {"a-b": 1, "c": [1, 2]}),
        ("concat([1], /* nothing */ [2])", "array", [1, 2]),
        ("empty('') && empty([]) && !empty({ a: 1 })", "bool", True),
        ("{ a: { b: [7] } }.a.b[0]", "int", 7),
    ],
)
def test_expressions(write: Callable[..., Path], expression: str, type_: str, value: Any):
    main = write(f"output result {type_} = {expression}\n")
    if value is None:
        with pytest.raises(BicepError, match=r"main\.bicep:1: "):
            outputs(main)
    else:
        assert outputs(main) == {"result": value}


def test_modules_conditions_and_references(write: Callable[..., Path]):
    main = write(
        """
        targetScope = 'subscription'
        param wanted bool
        resource group 'Microsoft.Resources/resourceGroups@2024-03-01' = {
          name: 'rg'
        }
        module store 'store.bicep' = if (wanted) {
          name: 'store'
          scope: group
          params: { names: ['a', 'b'] }
        }
        output address string = wanted ? store!.outputs.address : 'none'
        """,
        store="""
        param names array
        resource accounts 'Some.Service/accounts@2024-01-01' = [for name in names: {
          name: name
          properties: { size: 1 }
        }]
        resource role 'Some.Service/roles@2024-01-01' = {
          scope: accounts[1]
          name: 'role'
        }
        output address string = accounts[0].properties.endpoint
        """,
    )
    templates = load_all(main, main.parent)
    assert list(faults(templates)) == []
    deployment = deploy(main, templates, {"wanted": True})
    group = "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/rg"
    assert [resource.id for resource in deployment.of_type("Some.Service/accounts")] == [
        f"{group}/providers/Some.Service/accounts/{name}" for name in "ab"
    ]
    assert deployment.of_type("Some.Service/roles")[0].scope_id == f"{group}/providers/Some.Service/accounts/b"
    assert deployment.outputs["address"] == f"<{group}/providers/Some.Service/accounts/a.properties.endpoint>"
    assert deploy(main, templates, {"wanted": False}).outputs["address"] == "none"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("param a string", "main.bicep:1: parameter a is not given"),
        ("param a int = 'x'", "main.bicep:1: parameter a is to be of type int, not 'x'"),
        ("@allowed(['x'])\nparam a string = 'y'", "main.bicep:2: parameter a may not be 'y'"),
        ("var a = b\nvar b = a\noutput c string = a", "depends on itself"),
        ("resource a 'Some.Service/accounts' = {\n  name: 'a'\n}", "names no API version"),
        ("output a string = 'open", "main.bicep:1: the text is not closed"),
        ("type a = string", "'type' does not begin anything that is understood here"),
        ("var a = { b: 1 }\noutput c int = a.d", "there is no .d"),
    ],
)
def test_what_azure_would_refuse_is_refused_with_its_place(write: Callable[..., Path], template: str, message: str):
    with pytest.raises(BicepError) as error:
        outputs(write(template + "\n"))
    assert message in str(error.value)
