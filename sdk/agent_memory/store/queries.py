"""Every query that the toolkit sends, as text. Values are only ever parameters.

A query over a user goes to the prefix of the partition key, one over a thread to the full key. A list is `IN (@ids)`;
`query_text` writes out what is sent. Cross-partition queries have their own section; no method of a scope uses them.
"""

from __future__ import annotations

from agent_memory.models import Memory, Turn
from agent_memory.store.pages import ALL, Slice


def fields(*names: str) -> str:
    """A projection, so that nothing else (above all no vector) is sent."""
    return ", ".join(f"c.{name}" for name in names)


NOT_OFF = "NOT ARRAY_CONTAINS(@off, c.thread_id)"
"""Leaves out the threads that their user switched off."""

ACTIVE = "(NOT IS_DEFINED(c.superseded_by) OR IS_NULL(c.superseded_by))"
"""What is believed now."""

AS_OF = (
    "(NOT IS_DEFINED(c.valid_from) OR c.valid_from <= @as_of)"
    " AND (NOT IS_DEFINED(c.valid_to) OR IS_NULL(c.valid_to) OR c.valid_to > @as_of)"
    f' AND ({ACTIVE} OR c.supersede_reason IN ("update", "contradict")'
    ' OR (c.supersede_reason IN ("expired", "evicted") AND c.superseded_at > @as_of))'
)
"""What was true at a time: including memories replaced or faded later, but not those merged into another memory."""

USABLE = 'c.status = "active"'
_EVENT = 'c.type = "episodic" AND NOT IS_STRING(c.kind)'
OF_NAMES = (
    "(ARRAY_CONTAINS(@types, c.type) OR ARRAY_CONTAINS(@type_kinds, c.kind)"
    f' OR (ARRAY_CONTAINS(@type_kinds, "event") AND {_EVENT}))'
)
"""Matches types, and the kinds that other systems treat as types."""
CHUNK = '(c.type = "episodic" AND c.kind = "chunk")'
NO_CHUNK = '(c.type != "episodic" OR NOT IS_STRING(c.kind) OR c.kind != "chunk")'
"""Anything but chunks. `NOT` of `CHUNK` would also leave out events: comparing an absent kind gives neither true nor
false."""
TURN_FIELDS = fields(*Turn.model_fields)
SPOKEN_FIELDS = fields(*(name for name in Turn.model_fields if name != "parts"))
"""Turns for steps and recall, which read only the content: parts may hold whole images."""
MEMORY_FIELDS = fields(*Memory.model_fields)

COUNT = "SELECT VALUE COUNT(1) FROM c"

# Turns, in a thread.
NEW_TURNS = (
    f"SELECT TOP @limit {SPOKEN_FIELDS}, c._ts FROM c"
    " WHERE c._ts >= @since AND NOT ARRAY_CONTAINS(@seen, c.id) ORDER BY c._ts ASC"
)
TURNS_BEFORE = f"SELECT TOP @limit {SPOKEN_FIELDS} FROM c WHERE c.created_at < @before ORDER BY c.created_at DESC"
LAST_TURNS = f"SELECT TOP @limit {SPOKEN_FIELDS}, c._ts FROM c ORDER BY c.created_at DESC"
LIVE_TURNS = f'SELECT {TURN_FIELDS}, c._ts FROM c WHERE c.created_at >= @after OR c._ts >= @since OR c.role = "system"'
NEW_TURN_IDS = (
    "SELECT c.id, c.role, c.created_at, c._ts FROM c WHERE c._ts >= @since AND NOT ARRAY_CONTAINS(@seen, c.id)"
)
ROLES_SINCE = "SELECT c.id, c.role, c.created_at FROM c WHERE c.created_at >= @since"
TURNS_BY_ID = f"SELECT {TURN_FIELDS}, c._ts FROM c WHERE c.id IN (@ids)"

# Memories, of a user or of one of their threads.
MEMORIES_BY_HASH = (
    f"SELECT {MEMORY_FIELDS} FROM c WHERE c.content_hash IN (@hashes) AND {NO_CHUNK} AND {ACTIVE}"
    ' AND c.type != "document"'
)
MEMORY_BY_ID = f"SELECT {MEMORY_FIELDS}, c._etag FROM c WHERE c.id = @id AND c.type IN ({{types}})"
MEMORIES_BY_ID = f"SELECT {MEMORY_FIELDS} FROM c WHERE c.type IN ({{types}}) AND c.id IN (@ids)"
MADE_FROM = f"SELECT {MEMORY_FIELDS} FROM c WHERE c.type IN ({{types}}) AND ARRAY_CONTAINS(c.source_ids, @id)"
SUPERSEDED_BY = f"SELECT {MEMORY_FIELDS} FROM c WHERE c.superseded_by IN (@ids)"
REPLACED_BY = "SELECT c.id, c.thread_id, c.supersede_reason, c.untold_since FROM c WHERE c.superseded_by IN (@ids)"
UNTOLD = f"SELECT {MEMORY_FIELDS}, c.untold_since FROM c WHERE IS_STRING(c.untold_since)"
UNTOLD_THREADS = "SELECT DISTINCT VALUE c.thread_id FROM c WHERE IS_STRING(c.untold_since)"
TOLD = "SELECT VALUE c.id FROM c WHERE IS_NULL(c.untold_since)"
SUMMARISED = 'SELECT VALUE c.thread_id FROM c WHERE c.type = "summary" AND c.thread_id IN (@threads)'
SUMMARIES_TOLD = (
    'SELECT VALUE c.thread_id FROM c WHERE c.type = "summary"'
    " AND EXISTS(SELECT VALUE t FROM t IN c.told_ids WHERE ARRAY_CONTAINS(@ids, t))"
)
NEWEST_FACTS = (
    f"SELECT TOP @limit {MEMORY_FIELDS} FROM c"
    f' WHERE c.type = "fact" AND {USABLE} AND {ACTIVE} ORDER BY c.created_at DESC'
)
REPLACED_FACTS = (
    f'SELECT {MEMORY_FIELDS} FROM c WHERE c.type = "fact" AND IS_STRING(c.superseded_by) AND IS_STRING(c.valid_to)'
)
CONTENTS = "SELECT c.id, c.thread_id, c.content, c.quote, c.created_at FROM c WHERE c.id IN (@ids)"
STANDING = (
    f"SELECT c.id, c.thread_id, c.content, c.superseded_by, c.supersede_reason FROM c WHERE c.id IN (@ids) AND {USABLE}"
)
RECORDED_SINCE = (
    f"SELECT TOP @limit {MEMORY_FIELDS}, c.embedding FROM c"
    f' WHERE c.type = "fact" AND {USABLE} AND {ACTIVE} AND c.recorded_at > @since AND c.embedding_model = @model'
    " ORDER BY c.created_at DESC"
)
CHANGED_MEMORIES = (
    f"SELECT TOP @limit {MEMORY_FIELDS}, c.ttl, c._ts, c._etag FROM c"
    ' WHERE c.type IN ("fact", "procedural") AND c._ts >= @since ORDER BY c._ts ASC'
)
_KNOWN_TYPES = 'c.type IN ("fact", "episodic", "procedural", "reflection")'
_CHANGED = f'FROM c WHERE (c.type = "forgotten" OR ({_KNOWN_TYPES} AND {NO_CHUNK}))'
_CHANGE = f"{MEMORY_FIELDS}, c._ts, c.stored_at, c.at, c.memory_hashes"
CHANGES = f"SELECT TOP @limit {_CHANGE} {_CHANGED} AND c._ts > @since AND c._ts <= @until ORDER BY c._ts ASC"
CHANGES_AT = f"SELECT {_CHANGE} {_CHANGED} AND c._ts = @at"
DERIVED = (
    'c.type IN ("fact", "episodic", "procedural") AND IS_DEFINED(c.model)'
    ' AND (NOT IS_DEFINED(c.kind) OR c.kind NOT IN ("chunk", "session"))'
)
"""What a model derived from turns; not what was written or corrected by hand, nor what was made for the index."""
_WITH_VECTOR = f"{MEMORY_FIELDS}, c.embedding"
MERGEABLE_FACTS = (
    f'SELECT TOP @limit {_WITH_VECTOR} FROM c WHERE {DERIVED} AND c.type = "fact" AND c.source = "user"'
    f" AND {USABLE} AND {ACTIVE} AND (NOT IS_DEFINED(c.pinned) OR NOT c.pinned)"
    " AND (NOT IS_DEFINED(c.data) OR IS_NULL(c.data))"
    " AND (NOT IS_DEFINED(c.source_ids) OR ARRAY_LENGTH(c.source_ids) = 0) ORDER BY c.created_at DESC"
)
"""Facts that may be merged into fewer sentences: not by hand, not pinned, not merged already, without data."""
PROCEDURES = (
    f"SELECT TOP @limit {_WITH_VECTOR} FROM c"
    f' WHERE c.type = "procedural" AND c.status != "quarantined" AND {ACTIVE} ORDER BY c.created_at DESC'
)
_EVIDENCE = (
    f"SELECT TOP @limit {MEMORY_FIELDS} FROM c"
    f' WHERE c.type IN ("fact", "episodic", "procedural") AND {NO_CHUNK} AND {USABLE} AND {ACTIVE}'
)
EVIDENCE = f"{_EVIDENCE} ORDER BY c.created_at DESC"
EVIDENCE_OF_PROJECT = f"{_EVIDENCE} AND c.project_id = @project ORDER BY c.created_at DESC"
INSIGHTS = (
    f"SELECT TOP @limit {MEMORY_FIELDS} FROM c"
    f' WHERE c.type = "reflection" AND c.status != "quarantined" AND {ACTIVE} ORDER BY c.created_at DESC'
)
_FADING = (
    f'({DERIVED} OR (c.type = "reflection" AND IS_DEFINED(c.model))) AND {ACTIVE}'
    " AND (NOT IS_DEFINED(c.pinned) OR NOT c.pinned) AND c.recorded_at < @before"
    " AND (NOT IS_DEFINED(c.last_accessed_at) OR c.last_accessed_at < @before)"
    " AND (NOT IS_DEFINED(c.reaffirmed_at) OR c.reaffirmed_at < @before)"
)
FADING = f"SELECT {MEMORY_FIELDS} FROM c WHERE {_FADING}"
DERIVED_FROM_TURNS = (
    f"SELECT {MEMORY_FIELDS} FROM c WHERE {DERIVED}"
    " AND EXISTS(SELECT VALUE t FROM t IN c.source_turn_ids WHERE ARRAY_CONTAINS(@turns, t))"
)
RESTING_ON = f"SELECT VALUE c.id FROM c WHERE {NO_CHUNK} AND ARRAY_CONTAINS(c.source_turn_ids, @turn)"
"""What was derived from a turn; its index is not."""
REAFFIRMED_AT = "SELECT VALUE c.id FROM c WHERE c.reaffirmed_at = @at"
DERIVATIONS = f"SELECT DISTINCT c.thread_id, c.model, c.prompt_version FROM c WHERE {DERIVED} AND {ACTIVE}"
DERIVING_CURSORS = (
    'SELECT c.thread_id, c.step, c.extra FROM c WHERE c.type = "cursor" AND c.step IN ("extract", "reprocess")'
)
EXTRACTIONS = (
    'SELECT c.runs, c.extra.intents.counting FROM c WHERE c.type = "cursor" AND c.step = "extract" AND c.runs > 0'
)
"""The committed extractions of a user, by thread, and the one that is not counted yet."""
# The archive of conversations other than `@thread`: their summaries, and the episodes of finished stretches.
_ARCHIVED = (
    f'(c.type = "summary" OR (c.type = "episodic" AND c.kind = "session" AND {USABLE} AND {ACTIVE}))'
    f" AND c.thread_id != @thread AND {NOT_OFF} AND (NOT IS_DEFINED(c.only_asks) OR NOT c.only_asks)"
)
_ACCOUNT = "c.id, c.type, c.thread_id, c.content, (c.covers_to ?? c.created_at) AS at"
NEAREST_ARCHIVE = (
    f"SELECT TOP @limit {_ACCOUNT}, VectorDistance(c.embedding, @vector) AS similarity FROM c"
    f" WHERE {_ARCHIVED} AND c.embedding_model = @model ORDER BY VectorDistance(c.embedding, @vector)"
)
NEWEST_ARCHIVE = f"SELECT TOP @limit {_ACCOUNT} FROM c WHERE {_ARCHIVED} ORDER BY c.created_at DESC"
USER_TALK = (
    f'SELECT c.metadata.position, c.embedding FROM c WHERE {CHUNK} AND c.source = "user"'
    " AND c.metadata.position >= @since AND c.embedding_model = @model"
)
PIECES_OF_DOCUMENTS = (
    f'SELECT {MEMORY_FIELDS}, c._etag FROM c WHERE c.type = "document" AND c.metadata.document_id IN (@documents)'
)
FACTS_OF_DOCUMENT = (
    'SELECT VALUE c.id FROM c WHERE c.type = "fact" AND ARRAY_CONTAINS(c.tags, "document")'
    " AND c.metadata.document_id = @document"
)
"""The facts into which earlier versions turned a document."""
STATIC_FACTS = f'SELECT {MEMORY_FIELDS} FROM c WHERE c.type = "static"'
_DEAD_LETTERS = 'FROM c WHERE c.type = "dead_letter"'
DEAD_LETTERS = f"SELECT * {_DEAD_LETTERS}"
DEAD_LETTER_COUNT = f"SELECT VALUE COUNT(1) {_DEAD_LETTERS}"
NEWEST_DEAD_LETTER = f"SELECT TOP 1 c.step, c.error, c.created_at {_DEAD_LETTERS} ORDER BY c.created_at DESC"

# Tombstones, and forgettings under way, in their reserved thread.
TOMBSTONES = 'SELECT * FROM c WHERE c.type = "tombstone" AND c.at >= @since'
TOMBSTONES_OF_TURNS = (
    "SELECT c.at, c.turn, c.said, c.place FROM c WHERE c.type = 'tombstone'"
    " AND (c.turn IN (@turns) OR c.said IN (@said) OR IS_DEFINED(c.place))"
)
_FORGETTING = 'c.type IN ("forgetting", "forgetting_in_parts")'
FORGETTINGS = f"SELECT c.id, c.user_id, c.popped FROM c WHERE {_FORGETTING}"
FORGETTING_DONE = 'SELECT TOP 1 c.at, c.named.type FROM c WHERE c.type = "forgotten" AND c.named.hash = @named'

# For forgetting: everything of a user, whatever its status.
EVERY_MEMORY = (
    f"SELECT {MEMORY_FIELDS} FROM c"
    f' WHERE c.type IN ("fact", "episodic", "procedural", "reflection", "document") AND {NO_CHUNK}'
)
NEAREST_OF_ALL = (
    f"SELECT TOP @limit {MEMORY_FIELDS}, VectorDistance(c.embedding, @vector) AS similarity FROM c"
    ' WHERE c.type IN ("fact", "episodic", "procedural", "reflection", "document") AND c.embedding_model = @model'
    " ORDER BY VectorDistance(c.embedding, @vector)"
)
ROLES_OF_CHUNKS_SINCE = (
    f"SELECT c.source_turn_ids[0] AS id, c.source AS role, c.created_at FROM c WHERE {CHUNK} AND c.created_at >= @since"
)
CHUNKS_OF_TURNS = f"SELECT {MEMORY_FIELDS} FROM c WHERE {CHUNK} AND c.source_turn_ids[0] IN (@turns)"
TURNS_OF_CHUNKS = f"SELECT c.thread_id, c.source_turn_ids[0] AS turn FROM c WHERE {CHUNK}"
WORDS_OF_CHUNKS = (
    "SELECT c.thread_id, c.source_turn_ids[0] AS turn, c.quote,"
    f" (IS_DEFINED(c.quote) ? undefined : c.content) AS content FROM c WHERE {CHUNK}"
)
CHUNK_IDS = f"SELECT VALUE c.id FROM c WHERE {CHUNK}"
SOURCES_OF_CHUNKS = f"SELECT c.id, c.source_turn_ids FROM c WHERE {CHUNK}"
CHUNKS_OF = (
    f"SELECT VALUE c.id FROM c WHERE {CHUNK}"
    " AND EXISTS(SELECT VALUE t FROM t IN c.source_turn_ids WHERE ARRAY_CONTAINS(@turns, t))"
)
LINKS = "SELECT c.id, c.thread_id, c.near_ids FROM c WHERE ARRAY_LENGTH(c.near_ids) > 0"
LINKED_WITH = (
    "SELECT c.id, c.thread_id FROM c WHERE EXISTS(SELECT VALUE n FROM n IN c.near_ids WHERE ARRAY_CONTAINS(@ids, n))"
)
TURNS_OF_CONTRIBUTOR = f"SELECT {TURN_FIELDS} FROM c WHERE c.contributor_id = @contributor"
MEMORIES_OF_CONTRIBUTOR = (
    f"SELECT {MEMORY_FIELDS} FROM c WHERE c.contributor_id = @contributor AND {NO_CHUNK} AND {ACTIVE}"
)
EVERY_TURN = f"SELECT {TURN_FIELDS}, c._ts FROM c"
SETTINGS_OF_ALL = "SELECT * FROM c WHERE c.id = @id"
THREADS_OF_TYPES = "SELECT DISTINCT VALUE c.thread_id FROM c WHERE ARRAY_CONTAINS(@types, c.type)"
OF_TYPES = "SELECT * FROM c WHERE ARRAY_CONTAINS(@types, c.type)"
TURNS_UP_TO = "SELECT c.id, c.created_at, c._ts FROM c WHERE c.created_at <= @end"
TURN_KEYS = "SELECT c.id, c.thread_id FROM c"
TURN_BY_ID = f"SELECT {TURN_FIELDS} FROM c WHERE c.id = @id"
IDS_THAT_EXIST = "SELECT VALUE c.id FROM c WHERE c.id IN (@ids)"
SOME_OF_ALL = "SELECT TOP @limit c.id, c.thread_id, c.type FROM c"
TYPES = "SELECT VALUE c.type FROM c"
ERASURES = "SELECT VALUE c.of FROM c"
CURSORS = 'SELECT c.id, c.thread_id FROM c WHERE c.type = "cursor"'
COVERED = "SELECT VALUE COUNT(1) FROM c WHERE c._ts < @since OR ARRAY_CONTAINS(@seen, c.id)"

PROJECTS = "SELECT DISTINCT VALUE c.project_id ?? null FROM c WHERE IS_DEFINED(c.source_turn_ids)"
ACCOUNTS = (
    f"SELECT {fields('id', 'type', 'thread_id', 'content', 'state', 'covers_from', 'covers_to', 'source_ids')},"
    ' c.project_ids, c.updated_at FROM c WHERE c.type IN ("summary", "state", "user_summary")'
)

# Counters.
THREAD_COUNTERS = 'SELECT * FROM c WHERE c.type = "counter"'
_OF_THREADS = "c.thread_id IN (@threads)"
COUNTERS_OF = f'SELECT * FROM c WHERE c.type IN ("counter", "user_counter") AND {_OF_THREADS}'

# Overviews.
_EXTRACTED = 'FROM c WHERE c.type = "cursor" AND c.step = "extract"'
COVERED_TURNS = f"SELECT VALUE SUM(c.count) {_EXTRACTED}"
COVERED_TURNS_OF = f"SELECT c.thread_id, c.count {_EXTRACTED} AND {_OF_THREADS}"
THREAD_IDS = "SELECT DISTINCT VALUE c.thread_id FROM c"
THREADS_SINCE = f"{THREAD_IDS} WHERE c.created_at >= @at AND {_OF_THREADS}"
MEMORY_OVERVIEW = (
    "SELECT c.type, c.created_at, c.superseded_by FROM c"
    f' WHERE c.type IN ("fact", "episodic", "procedural", "reflection") AND {NO_CHUNK}'
)

WAITING_MEMORIES = (
    f'SELECT {MEMORY_FIELDS} FROM c WHERE c.type IN ("fact", "episodic", "procedural", "reflection", "document")'
    f' AND c.status IN ("candidate", "quarantined") AND {ACTIVE} ORDER BY c.created_at DESC'
)
KEPT_MEMORIES = (
    'SELECT VALUE COUNT(1) FROM c WHERE c.type IN ("fact", "episodic", "procedural", "reflection")'
    f" AND {USABLE} AND {ACTIVE} AND {NO_CHUNK}"
)

TELLING_REPLIES = (
    f"SELECT {fields('id', 'user_id', 'thread_id', 'type', 'state', 'request', 'claimed_at', 'owner', 'ttl', '_etag')}"
    ' FROM c WHERE c.type = "reply" AND c.id != @own'
    ' AND (c.state = "answered" OR (c.state = "claimed" AND NOT IS_DEFINED(c.silent)))'
)
"""Answers that were kept or may yet be, without their content."""

AUDIT_PAGES = (
    'SELECT TOP @limit c.entries FROM c WHERE c.type = "audit" AND c["until"] >= @since ORDER BY c["until"] DESC'
)

# Across partitions: background work and administration only; nothing that a scope offers.
PENDING_COUNTERS = 'SELECT * FROM c WHERE c.type = "counter" AND c.pending > 0'
OVER_BUDGET = (
    'SELECT VALUE COUNT(1) FROM c WHERE c.type = "budget" AND c.day = @day'
    " AND (c.model_calls >= @calls OR c.tokens >= @tokens)"
)
STORE_BUDGET = 'SELECT c.day, c.model_calls, c.tokens FROM c WHERE c.type = "store_budget" AND c.day = @day'
WAITING_SINCE = 'SELECT VALUE MIN(c.waiting_since) FROM c WHERE c.type = "counter" AND IS_NUMBER(c.waiting_since)'
BEHIND_COUNTERS = 'SELECT * FROM c WHERE c.type = "counter" AND (c.pending > 0 OR c.count > (c.done["extract"] ?? 0))'
PENDING_TURNS = 'SELECT VALUE SUM(c.pending) FROM c WHERE c.type = "counter"'
USERS = "SELECT DISTINCT VALUE c.user_id FROM c"
OWNERS_WITH = "SELECT DISTINCT VALUE c.user_id FROM c WHERE c.contributor_id = @contributor"
_SLICE = "c._ts >= @since AND c._ts < @until"
RECENT_TURNS = (
    "SELECT TOP @limit c.id, c.type, c.user_id, c.thread_id, c.backfill, c._ts FROM c"
    f' WHERE c.type = "turn" AND IS_STRING(c.user_id) AND IS_STRING(c.thread_id) AND {_SLICE}'
)
_QUIET = (
    'SELECT TOP @limit c.user_id, c.thread_id, c.count FROM c WHERE c.type = "counter" AND c.pending > 0'
    " AND c.last_turn_ts >= @since AND c.last_turn_ts < @until"
)
QUIET_THREADS = f"{_QUIET} AND NOT IS_DEFINED(c.backfill)"
IMPORTED_THREADS = f"{_QUIET} AND c.backfill = true"
UNFINISHED_CURSORS = (
    'SELECT c.user_id, c.thread_id, c.step FROM c WHERE c.type = "cursor" AND IS_DEFINED(c.extra.intents)'
)
INTENTS_LEFT = (
    "SELECT TOP @limit c.user_id, c.thread_id, c.step FROM c"
    f' WHERE c.type = "cursor" AND IS_DEFINED(c.extra.intents) AND {_SLICE}'
)
FORGETTINGS_LEFT = f"SELECT TOP @limit c.id, c.user_id FROM c WHERE {_FORGETTING} AND {_SLICE}"
ERASURES_LEFT = f'SELECT TOP @limit c.of AS user_id FROM c WHERE c.type = "erasure" AND {_SLICE}'
EXTRACTING_USERS = f'SELECT TOP @limit c.user_id FROM c WHERE c.type = "cursor" AND c.step = "extract" AND {_SLICE}'
UNTOLD_OF_USERS = f"SELECT TOP @limit c.user_id FROM c WHERE IS_STRING(c.untold_since) AND {_SLICE}"
FADING_OF_USERS = f"SELECT TOP @limit c.user_id FROM c WHERE {_FADING} AND {_SLICE}"
FADING_USERS = f"SELECT DISTINCT VALUE c.user_id FROM c WHERE {_FADING}"
RECENTLY_EXTRACTED = (
    'SELECT DISTINCT VALUE c.user_id FROM c WHERE c.type = "cursor" AND c.step = "extract" AND c._ts >= @since'
)


def memories(*, types: bool, superseded: bool, as_of: bool, condition: str = "true", part: Slice = ALL) -> str:
    """A slice of a listing of memories, newest first (`@types`, `@type_kinds` and `@as_of` as asked for).

    `condition` is that of a filter.
    """
    of_types = OF_NAMES if types else 'c.type IN ("fact", "episodic", "procedural", "reflection")'
    conditions = [of_types, USABLE, NO_CHUNK, *([AS_OF] if as_of else [] if superseded else [ACTIVE]), condition]
    where = " AND ".join(conditions)
    return f"SELECT {part.top}{MEMORY_FIELDS} FROM c WHERE {where}{part.condition} ORDER BY c.created_at DESC"


def turns(part: Slice) -> str:
    """A slice of the turns of a thread, newest first."""
    return f"SELECT {part.top}{TURN_FIELDS} FROM c WHERE true{part.condition} ORDER BY c.created_at DESC"


def turns_of_others(part: Slice) -> str:
    """A slice of the threads and times of turns, newest first, without the threads in `@known`."""
    return (
        f"SELECT {part.top}c.thread_id, c.created_at FROM c"
        f" WHERE NOT ARRAY_CONTAINS(@known, c.thread_id){part.condition} ORDER BY c.created_at DESC"
    )


def turns_of(*, project: bool, since: bool, until: bool) -> str:
    """Turns of a project (`@project`) and a time range (`@since` to `@until`), if given."""
    return f"SELECT TOP @limit {TURN_FIELDS} FROM c WHERE true{_of_place(project, since, until)}"


def chunks_of(*, project: bool, since: bool, until: bool) -> str:
    """The chunks of a project and a time range, likewise."""
    return f"SELECT TOP @limit {MEMORY_FIELDS} FROM c WHERE {CHUNK}{_of_place(project, since, until)}"


def _of_place(project: bool, since: bool, until: bool) -> str:
    bounds = {"c.project_id = @project": project, "c.created_at >= @since": since, "c.created_at <= @until": until}
    return "".join(f" AND {condition}" for condition, given in bounds.items() if given)
