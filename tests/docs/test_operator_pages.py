"""What the pages for operators promise of the deployed store, and the advice that they give."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_memory import AsyncMemory
from agent_memory.language.hashing import HashingEmbeddings
from agent_memory.language.minilm import MiniLMEmbeddings
from agent_memory.language.offline import OfflineChat
from agent_memory.settings import RecallSettings
from infra_check.check import faults_of
from infra_check.project import Project
from infra_check.resource_rules import nothing_takes_keys, the_store_can_be_restored

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.req("S0-106", "S3-41")
def test_the_store_is_encrypted_and_backed_up_and_the_page_says_how_to_restore_it():
    assert list(faults_of(the_store_can_be_restored, Project(ROOT))) == []
    page = (ROOT / "docs/operations.md").read_text().partition("## Backup and restore")[2].partition("\n## ")[0]
    assert "az cosmosdb restore" in page
    assert "role assignments" in page


@pytest.mark.req("S2-57")
def test_no_key_opens_anything_that_is_deployed():
    assert list(faults_of(nothing_takes_keys, Project(ROOT))) == []


@pytest.mark.req("S0-077")
def test_the_choice_of_an_embedding_model_is_explained():
    page = (ROOT / "docs/how-to/choose-models.md").read_text().partition("## Choose an embedding model")[2]
    advice = page.partition("\n## ")[0]
    assert f"with {MiniLMEmbeddings().dimensions} numbers" in advice
    assert f"without an entry the usual {RecallSettings().default_threshold}" in advice
    assert "AGENT_MEMORY_RECALL_THRESHOLDS" in advice


@pytest.mark.req("S3-48")
def test_advice_on_the_threshold_has_the_right_direction():
    advice = (ROOT / "docs/troubleshooting.md").read_text()
    assert "**Too little is found: lower the threshold.**" in advice
    assert f"a model without an entry gets {RecallSettings().default_threshold}" in advice
    assert f"`{OfflineChat().model_id}`" in advice


@pytest.mark.req("S3-48")
async def test_a_lower_threshold_lets_in_more():
    found = {}
    for threshold in (0.05, 0.95):
        recall = RecallSettings(thresholds={"hashing": threshold})
        async with AsyncMemory.local(embedding_model=HashingEmbeddings(), recall=recall) as memory:
            alice = memory.user("alice")
            await alice.remember("Vegetarian since childhood")
            found[threshold] = [hit.memory.content for hit in await alice.search("vegetables?")]
    assert found == {0.05: ["Vegetarian since childhood"], 0.95: []}
