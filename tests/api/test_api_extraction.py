"""Custom extraction over HTTP, from the remote client, and on the command line."""

import json
from pathlib import Path
from typing import cast

import command
import pytest
from api_world import client_of, serving

from agent_memory import AsyncMemory
from agent_memory.errors import InvalidInput

INVOICES = {
    "instructions": "Note every invoice.",
    "kinds": [
        {
            "name": "invoice",
            "description": "One that was sent",
            "data_schema": {"type": "object", "properties": {"amount": {"type": "number"}}},
        }
    ],
    "categories": {"billing": "money"},
}


async def test_a_remote_memory_sets_what_the_server_extracts(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        assert await remote.extraction() is None
        made = await remote.set_extraction(INVOICES, group_id="sales")
        assert made is not None
        assert await remote.extraction(group_id="sales") == await memory.extraction(group_id="sales") == made
        assert await remote.extraction() is None
        with pytest.raises(InvalidInput, match="instructions, kinds or categories"):
            await remote.set_extraction({})
        await remote.set_extraction(None, group_id="sales")
        assert await memory.extraction(group_id="sales") is None


async def test_memories_of_a_custom_kind_over_http(memory: AsyncMemory):
    async with serving(memory) as url, AsyncMemory.remote(url) as remote:
        await remote.set_extraction(INVOICES)
        ada = remote.user("ada")
        made = await ada.remember("Invoice to Contoso", kind="invoice", data={"amount": 1200})
        assert (await memory.user("ada").get(made.id)).data == {"amount": 1200}
        newer = await ada.update(made.id, data={"amount": 1300}, tags=["billing"], metadata={"paid": False})
        assert (newer.kind, newer.data) == ("invoice", {"amount": 1300})
        assert (newer.tags, newer.metadata) == (["billing"], {"paid": False})
        with pytest.raises(InvalidInput, match="tags"):
            await ada.update(newer.id, tags=cast("list[str]", [3]))
        with pytest.raises(InvalidInput, match=r"data\.amount does not fit"):
            await ada.remember("Another", kind="invoice", data={"amount": "much"})
        with pytest.raises(InvalidInput, match="'order' is unknown"):
            await ada.remember("An order", kind="order")


async def test_a_bad_schema_is_a_bad_request(memory: AsyncMemory):
    bad = json.loads(json.dumps(INVOICES))
    bad["kinds"][0]["data_schema"]["properties"]["amount"] = {"$ref": "file:///etc/passwd"}
    async with client_of(memory) as http:
        answer = await http.put("/v1/admin/extraction", json={"extraction": bad})
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_input")
        assert "may only refer" in answer.json()["error"]["message"]
        settings = await http.patch("/v1/settings", json={"extraction": INVOICES}, headers={"x-user-id": "ada"})
        assert settings.status_code == 400
    assert await memory.extraction() is None


def test_the_command_sets_shows_and_clears_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("AGENT_MEMORY_EMBEDDINGS", "local:hashing")
    store, file = str(tmp_path / "m.db"), tmp_path / "invoices.json"
    file.write_text(json.dumps(INVOICES))

    def run(*arguments: str, code: int = 0) -> str:
        return command.run("extraction", *arguments, "--store", store, code=code).output

    assert "there is no store" in run(code=2)
    assert "kind invoice: One that was sent (data: amount)" in run(str(file))
    one = ["Invoice to Contoso", "--kind", "invoice", "--user", "ada", "--store", store, "--json"]
    made = json.loads(command.run("remember", *one, "--data", '{"amount": 1200}').stdout)
    assert made["data"] == {"amount": 1200}
    changed = command.parsed("update", made["id"], "--data", '{"amount": 1300}', "--tag", "billing", "--store", store)
    assert (changed["data"], changed["tags"]) == ({"amount": 1300}, ["billing"])
    assert command.parsed("update", changed["id"], "--no-tags", "--store", store)["tags"] == []
    both = command.run("update", changed["id"], "--no-tags", "--tag", "a", "--store", store, code=2)
    assert "--no-tags removes all tags" in both.output + both.stderr
    for data, why in (("{", "--data is not JSON"), ("[]", "--data is a JSON object"), ('{"amount": "x"}', "fit")):
        assert why in command.run("remember", *one, "--data", data, code=2).stderr
    assert json.loads(run("--json"))["extraction"]["categories"] == {"billing": "money"}
    assert "Nothing" in run("--group", "team")
    assert "Nothing" in run("--clear")
    file.write_text('{"kinds": [{"name": "fact", "description": "x"}]}')
    assert "is a kind or a type already" in run(str(file), code=2)
    file.write_text("{")
    assert "is not JSON" in run(str(file), code=2)
    assert "not both" in run(str(file), "--clear", code=2)
