"""What users decide about their data: settings, audit, forgetting, export and import, documents to look up."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from agent_memory.errors import InvalidInput, NotFound
from agent_memory.forgetting.deletion import delete_items
from agent_memory.language.current import for_writing
from agent_memory.models import (
    AuditEntry,
    ExportPart,
    ForgetReceipt,
    ImportReceipt,
    Memory,
    Receipt,
    ScopeSettings,
    Usage,
)
from agent_memory.processing.worker import Progress
from agent_memory.rules.keeping import with_retention
from agent_memory.scopes.forgetting import ForgetRequest, erase, forget, make_place
from agent_memory.scopes.scope import Scope, audited
from agent_memory.scopes.shared import settings_changes
from agent_memory.screening.screen import entries_of, screen_aside
from agent_memory.store import library, queries
from agent_memory.store.containers import MEMORIES
from agent_memory.store.documents import Document, check_json, to_document
from agent_memory.store.ids import DOCUMENTS_THREAD, USER_THREAD, check_id
from agent_memory.store.scope_documents import change_settings, read_document, scope_settings
from agent_memory.store.static import refuse_static
from agent_memory.transfer.export import export_part
from agent_memory.transfer.importing import Importer
from agent_memory.transfer.lines import batches


class UserControls(Scope):
    """The settings of one user, the audit, the deletion, export and import of their data, and their documents."""

    async def settings(self) -> ScopeSettings:
        """The switches of the user."""
        return await self._in_effect(scope_settings(await read_document(self._runtime.store, self.user_id)))

    async def _in_effect(self, settings: ScopeSettings) -> ScopeSettings:
        rules = await self._rules()
        return settings.model_copy(update={"off_by": None if rules.recall else rules.off_by})

    @audited(changes=True)
    async def update_settings(
        self,
        *,
        enabled: bool | None = None,
        auto_store: bool | None = None,
        keep_turns: bool | None = None,
        deny_categories: Sequence[str] | None = None,
        allow_categories: Sequence[str] | None = None,
        retention_days: Mapping[str, int] | None = None,
        time_zone: str | None = None,
        if_match: str | None = None,
    ) -> ScopeSettings:
        """Changes the given settings and leaves the others. Memories stay until they are forgotten.

        Args:
            enabled: False: nothing is remembered and nothing recalled.
            auto_store: False: nothing is derived from later turns; recall still works.
            keep_turns: False: turns are not stored.
            deny_categories: Categories that are never remembered ("health"). Replaces the earlier list.
            allow_categories: If not empty, the only categories that are remembered. Replaces the earlier list.
            retention_days: After how many days memories of a type (fact, episodic, procedural, reflection) are
                deleted, if they are written or changed from now on. Replaces the earlier mapping.
            time_zone: The user's time zone, like "Europe/Lisbon": it defines "today" and weekdays.
            if_match: Changes the settings only if they still have this `etag`.

        Raises:
            InvalidInput: if a value is invalid.
            Conflict: if the settings have changed since `if_match`.
        """
        changes = settings_changes(
            enabled=enabled,
            auto_store=auto_store,
            keep_turns=keep_turns,
            deny_categories=deny_categories,
            allow_categories=allow_categories,
            retention_days=retention_days,
            time_zone=time_zone,
        )
        return await self._in_effect(await change_settings(self._runtime.store, self.user_id, None, changes, if_match))

    async def audit(self, *, since: datetime | None = None, limit: int = 100) -> list[AuditEntry]:
        """Who read or changed the user's memory, newest first; empty if the audit is off.

        Args:
            since: Only entries since this time.
            limit: The most entries.

        Raises:
            InvalidInput: if the limit is not from 1 to 1000.
        """
        if not 1 <= limit <= 1000:
            raise InvalidInput(f"limit must be a number from 1 to 1000, not {limit}")
        return await self._runtime.auditor.entries(self.user_id, since, limit)

    @audited(changes=True, operation="delete_memory")
    async def forget(
        self,
        id: str | None = None,
        *,
        query: str | None = None,
        thread_id: str | None = None,
        project_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_sources: bool = True,
        everything: bool = False,
        dry_run: bool = False,
    ) -> ForgetReceipt:
        """Deletes a statement and everything derived from it. It does not come back unless it is said again.

        With an id or a query, this also deletes the turns that say it, in any wording that is recognised, all its
        versions, and everything derived from it. With a thread, project or time range, it deletes everything said there
        and derived from it. Together with a query, those narrow the query. Summaries and the profile are rebuilt.

        A request with an id may be repeated for thirty days, for instance after its answer was lost.

        Args:
            id: A memory or a turn.
            query: A topic; everything about it is deleted.
            thread_id: A conversation.
            project_id: A project.
            since: Only what was said at this time or later.
            until: Only what was said at this time or earlier.
            include_sources: False keeps the turns: only the memory derived from them is wrong.
            everything: Deletes the user, with every document in every container: turns, memories, summaries, counters,
                settings, tombstones. A final scan verifies it. After a crash, the background work finishes it.
            dry_run: Only reports what would be deleted, with contents.

        Returns:
            What was deleted, what stays although it comes from the same turns, with reasons, and what was rebuilt.

        Raises:
            NotFound: if the user has nothing with this id.
            StaticMemoryError: if the id is static knowledge.
            InvalidInput: if nothing is named, or arguments contradict each other.
            ModelError: if texts must be compared and the embedding model is unavailable; nothing was deleted.
        """
        place = make_place(thread_id, project_id, since, until)
        request = ForgetRequest(self.user_id, id, query, place, include_sources)
        if everything:
            if request != ForgetRequest(self.user_id):
                raise InvalidInput("everything=True deletes the whole user: give no other selection with it")
            return await erase(self._runtime, self.user_id, dry_run=dry_run)
        try:
            return await forget(self._runtime, request, dry_run=dry_run)
        except NotFound:
            if id is not None:
                await refuse_static(self._runtime.store, id, "delete")
            raise

    async def export(self, write: Callable[[str], object]) -> int:
        """Writes everything that the user owns as lines of JSON; `import_lines` reads them.

        An export holds settings, memories with their history and sources, turns, summaries and the profile.

        Args:
            write: Receives each line, with its line end; for example a file's `write`.

        Returns:
            How many lines were written.
        """
        lines, part = 0, await self.export_part()
        while True:
            for record in part.records:
                write(json.dumps(record, ensure_ascii=False) + "\n")
            lines += len(part.records)
            if part.next is None:
                return lines
            part = await self.export_part(part.next)

    @audited(changes=False, patient=True)
    async def export_part(self, part: str | None = None) -> ExportPart:
        """One part of an export. `export` requests all parts, one after the other.

        Args:
            part: The name of the part; None for the first. Each part names the next one.

        Raises:
            InvalidInput: for an unknown part.
        """
        return await export_part(self._runtime.store, self.user_id, part)

    @audited(changes=True)
    async def import_lines(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReceipt:
        """Imports the lines of an export, of this user or another one, from this store or another one.

        Stored documents stay as they are, so the call may be repeated, also after a crash. What was forgotten here
        after it was said stays forgotten. Processed turns are not processed again. The receipt counts what was left
        out. `refused`: memories that the tier has no room for. `screened`: summaries that hold a secret or an
        instruction to a model; they are rebuilt. `unwanted`: what denied categories, or switches of the user or of
        a thread, forbid. Procedures that no user said wait for review. A member of a group imports no names of others:
        what the file says about who wrote something is kept for the member, and dropped for others.

        Args:
            lines: The lines; for example an open file.
            progress: Called with the number of lines done.

        Raises:
            InvalidInput: at a line that is not from an export; the lines before it are written.
            MemoryDisabled: if a switch is off.
            Conflict: if a turn with the same id has other content.
            ModelError: if the embedding model is unavailable; the call may be repeated.
        """
        rules = await self._rules()
        rules.require_enabled()
        importer = Importer(self._runtime.tools, self.user_id, rules, self.member)
        async for batch in batches(lines):
            await importer.take(batch)
            if progress is not None:
                progress(batch.first + len(batch.lines) - 1)
        self._runtime.written()
        return importer.receipt

    @audited(changes=True, operation="upsert_memory")
    async def add_document(
        self,
        id: str,
        content: str,
        *,
        metadata: Mapping[str, Any] | None = None,
        chunk_size: int = 800,
        chunk_overlap: int = 100,
    ) -> Receipt:
        """Stores a document in pieces, and replaces an earlier one with the same id. The same text changes nothing.

        No memories are derived from a document: it is in no profile and no count, and `search` finds it only with
        `types=["document"]`. Secrets are redacted. Pieces that look like an instruction to a model wait for review.

        Args:
            id: The id of the document.
            content: Its text.
            metadata: Anything that belongs to it (title, source, …); must be JSON. Each piece gets a copy.
            chunk_size: The most characters of a piece.
            chunk_overlap: How many characters a piece shares with the one before it.

        Returns:
            The ids of its pieces; `created` says how many of them are new or changed.

        Raises:
            InvalidInput: if the text is empty, or a value is invalid.
            MemoryDisabled: if a switch is off.
            ModelError: if it could not be embedded; the call may be repeated.
        """
        check_id(id, "id")
        if not isinstance(content, str):
            raise InvalidInput(f"a document is a text, not {content!r:.60}")
        sizes = (chunk_size, chunk_overlap)
        if not all(isinstance(one, int) for one in sizes) or chunk_size < 1 or chunk_overlap < 0:
            raise InvalidInput(f"cannot make pieces of {chunk_size} characters that share {chunk_overlap}")
        check_json(dict(metadata or {}), "metadata")
        rules = await self._rules()
        rules.require_enabled()
        store, tools = self._runtime.store, self._runtime.tools
        embeddings = for_writing(tools.embeddings)
        texts = list(library.pieces_of(content, chunk_size, chunk_overlap))
        if entries_of(dict(metadata or {}))[0] * len(texts) > library.MOST_COPIED:
            raise InvalidInput(f"metadata: {len(texts)} pieces would each have a copy; give it fewer entries")
        pieces = library.make_pieces(self.user_id, id, texts, metadata or {}, embeddings.model_id)
        screened = await screen_aside(pieces, rules, tools.policy)
        if not screened.memories:
            await self._delete_document(id)
            return Receipt(ids=[], created=0, skipped_reason="; ".join(screened.rejected))
        # An id is no text: folded or redacted, it would name another document, or none.
        named = [
            one.model_copy(update={"metadata": one.metadata | {"document_id": id}, "contributor_id": self.member})
            for one in screened.memories
        ]
        usage = Usage()

        async def make(changed: Sequence[Memory]) -> list[Document]:
            nonlocal usage
            embedded = await embeddings.embed([piece.content for piece in changed])
            usage += embedded.usage
            documents = [to_document(piece, vector) for piece, vector in zip(changed, embedded.vectors, strict=True)]
            return with_retention(documents, rules)

        created = await library.write_pieces(store, self.user_id, id, named, make)
        await self._delete_facts_of(id)
        ids = [piece.id for piece in screened.memories]
        return Receipt(ids=ids, created=created, skipped_reason="; ".join(screened.rejected) or None, usage=usage)

    @audited(changes=True, operation="delete_memory")
    async def delete_document(self, id: str) -> int:
        """Deletes a document; returns how many pieces it had. To forget everywhere what it says, use `forget`.

        Raises:
            StoreUnavailable: if the store failed; the call may be repeated.
        """
        return await self._delete_document(check_id(id, "id"))

    async def _delete_document(self, id: str) -> int:
        store = self._runtime.store
        pieces = await library.read_pieces(store, self.user_id, id)
        return await delete_items(store, MEMORIES, (self.user_id, DOCUMENTS_THREAD), pieces) + (
            await self._delete_facts_of(id)
        )

    async def _delete_facts_of(self, id: str) -> int:
        """Deletes the facts that earlier versions made from a document."""
        store, partition = self._runtime.store, (self.user_id, USER_THREAD)
        ids = await store.query(MEMORIES, queries.FACTS_OF_DOCUMENT, partition, document=id)
        return await delete_items(store, MEMORIES, partition, ids)
