"""A filter finds tags and metadata by the words in which they were given, although they are stored folded."""

import unicodedata

from agent_memory import AsyncMemory

DECOMPOSED = unicodedata.normalize("NFD", "Übung")


async def test_tags_and_metadata_are_found_as_they_were_given():
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        given = {"ｋｅｙ": "ﬁle", DECOMPOSED: "x\u00a0y"}
        await alice.remember("The first note", tags=["ｆｕｌｌ", DECOMPOSED], metadata=given)
        await alice.remember("The second note", tags=["plain"], metadata={"key": "other"})
        for tag in ("ｆｕｌｌ", "full", DECOMPOSED, "Übung"):
            assert [hit.memory.content for hit in await alice.search("note", tags=[tag])] == ["The first note"]
            assert len(await alice.memories(filters={"tags": {"contains": tag}})) == 1
            assert len(await alice.memories(filters={"tags": {"in": [tag, "none"]}})) == 1
        for key, value in {**given, "key": "file", "Übung": "x y"}.items():
            [found] = await alice.memories(filters={"metadata": {key: value}})
            assert found.content == "The first note"
            [other] = await alice.memories(filters={"not": {"metadata": {key: value}}})
            assert other.content == "The second note"
        assert await alice.search("note", tags=["absent"]) == []


async def test_a_document_keeps_its_id_in_any_letters():
    async with AsyncMemory.local() as memory:
        alice = memory.user("alice")
        names = [unicodedata.normalize("NFD", "Übersicht.pdf"), "ﬁle", "file", "4111 1111 1111 1111"]
        for name in names:
            assert (await alice.add_document(name, "Whales sing.")).created == 1
            assert (await alice.add_document(name, "Whales sing.")).created == 0
            assert (await alice.add_document(name, "Whales dive.")).created == 1
        assert len(await alice.memories(types=["document"])) == len(names)
        for name in names:
            assert await alice.delete_document(name) == 1
        assert await alice.memories(types=["document"]) == []
