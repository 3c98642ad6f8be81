"""What users decide about what is kept of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime

from agent_memory.errors import InvalidInput, NotFound
from agent_memory.models import (
    AuditEntry,
    ExportPart,
    ForgetReceipt,
    ImportReceipt,
    ScopeSettings,
)
from agent_memory.processing.worker import Progress
from agent_memory.scopes.audited import audited
from agent_memory.scopes.forgetting import ForgetRequest, erase, forget, make_place
from agent_memory.scopes.shared import settings_changes
from agent_memory.scopes.user_part import UserPart
from agent_memory.store.preferences import change_settings, read_document, scope_settings
from agent_memory.store.static import refuse_static
from agent_memory.transfer.export import export_part
from agent_memory.transfer.importing import Importer, batches


class UserControls(UserPart):
    """The settings of one user, what was done with their data, and how they take it along or have it deleted."""

    async def settings(self) -> ScopeSettings:
        """What the user has switched on and off."""
        return scope_settings(await read_document(self._runtime.store, self.user_id))

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
        if_match: str | None = None,
    ) -> ScopeSettings:
        """Changes what is given and leaves the rest. What is already remembered stays, and can be forgotten.

        Args:
            enabled: Off: nothing is remembered and nothing recalled.
            auto_store: Off: nothing is derived from what is said from now on; recall goes on.
            keep_turns: Off: not even conversations are kept.
            deny_categories: What is never remembered ("health"); all of them, not only the new ones.
            allow_categories: If any, all that is remembered.
            retention_days: After how many days memories of a type (fact, episodic, procedural, reflection) are
                deleted that are written or changed from now on; all of them, not only the new ones.
            if_match: Only if the settings still have this `etag`.

        Raises:
            InvalidInput: if a value cannot be used.
            Conflict: if the settings have changed since `if_match`.
        """
        changes = settings_changes(
            enabled=enabled,
            auto_store=auto_store,
            keep_turns=keep_turns,
            deny_categories=deny_categories,
            allow_categories=allow_categories,
            retention_days=retention_days,
        )
        return await change_settings(self._runtime.store, self.user_id, None, changes, if_match)

    async def audit(self, *, since: datetime | None = None, limit: int = 100) -> list[AuditEntry]:
        """Who read or changed what is kept of the user, newest first; empty if this memory keeps no audit.

        Args:
            since: Only since then.
            limit: How many at most.

        Raises:
            InvalidInput: if the limit is none from 1 to 1000.
        """
        if not 1 <= limit <= 1000:
            raise InvalidInput(f"limit must be a number from 1 to 1000, not {limit}")
        return await self._runtime.auditor.entries(self.user_id, since, limit)

    @audited(changes=True)
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
        """Deletes what is named, with all that rests on it, so that it does not come back unless it is said again.

        By id or by query, the turns that say it go too, in whatever words it is recognised, with all versions and all
        that was made of it. By thread, project or time range, all that was said there and derived from it goes. Given
        together with a query, those narrow it. Summaries and the profile are made again without it.

        Args:
            id: A memory, or a turn.
            query: A topic: what is about it goes.
            thread_id: A conversation.
            project_id: A project.
            since: What was said since then.
            until: What was said until then.
            include_sources: False if the talk is right and only the memory made of it is wrong: then the turns stay.
            everything: The user goes, with every document in every container: turns, memories, summaries, counters,
                settings, tombstones. A scan at the end makes sure; a crash is finished in the background.
            dry_run: Only say what would go, with its words, and delete nothing.

        Returns:
            What was deleted, what stays though it rests on the same turns, and why; what was made again.

        Raises:
            NotFound: if the user has nothing with this id.
            StaticMemoryError: if it is static knowledge, which belongs to nobody.
            InvalidInput: if nothing is named, or arguments contradict each other.
            ModelError: if texts must be compared and the embedding model is unavailable; nothing was deleted.
        """
        place = make_place(thread_id, project_id, since, until)
        request = ForgetRequest(self.user_id, id, query, place, include_sources)
        if everything:
            if request != ForgetRequest(self.user_id):
                raise InvalidInput("everything is everything: it goes with no other selection")
            return await erase(self._runtime, self.user_id, dry_run=dry_run)
        try:
            return await forget(self._runtime, request, dry_run=dry_run)
        except NotFound:
            if id is not None:
                await refuse_static(self._runtime.store, id, "delete")
            raise

    async def export(self, write: Callable[[str], object]) -> int:
        """Writes out everything that the user owns, as lines of JSON; `import_lines` reads them.

        That is: settings, memories with their history and where they come from, turns, summaries, the profile.

        Args:
            write: Is given each line, with its end; a file's `write`, say.

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

    @audited(changes=False)
    async def export_part(self, part: str | None = None) -> ExportPart:
        """One part of an export, as `export` asks for them one after the other.

        Args:
            part: Which; None for the first. Each names the next.

        Raises:
            InvalidInput: for a part that no part names.
        """
        return await export_part(self._runtime.store, self.user_id, part)

    @audited(changes=True)
    async def import_lines(self, lines: Iterable[str], progress: Progress | None = None) -> ImportReceipt:
        """Takes in the lines of an export, of this user or of another, here or elsewhere.

        What is there already stays as it is, so the call may be repeated, and goes on after a crash. What was forgotten
        here since it was said stays forgotten. Turns that were processed are not processed again. Memories that the
        tier has no room for are left out; the receipt says how many were `refused`. A summary that holds a secret or
        gives orders is left out and made again; the receipt says how many were `screened`. What denied categories or
        switches of the user or of a thread forbid is left out; the receipt says how much was `unwanted`.

        Args:
            lines: The lines; an open file, say.
            progress: Called with the number of lines done.

        Raises:
            InvalidInput: at a line that is no export's; what stands ahead of it is written.
            MemoryDisabled: if a switch is off.
            Conflict: if the id of a turn is taken by another content.
            ModelError: if the embedding model is unavailable; the call may be repeated.
        """
        rules = await self._rules()
        rules.require_enabled()
        importer = Importer(self._runtime.tools, self.user_id, rules)
        async for batch in batches(lines):
            await importer.take(batch)
            if progress is not None:
                progress(batch.first + len(batch.lines) - 1)
        self._runtime.written()
        return importer.receipt
