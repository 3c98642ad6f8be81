"""Models: what callers send and receive. The library, the HTTP API and the command line use the same ones.

Times are timezone-aware UTC. Scores are higher-is-better. Vectors never appear here: they stay in the store.
"""

from agent_memory.models.base import (
    Model as Model,
    Page as Page,
    Usage as Usage,
    UtcTime as UtcTime,
    as_utc as as_utc,
    content_hash as content_hash,
    day as day,
    iso as iso,
    now as now,
    there as there,
    time_zone as time_zone,
)
from agent_memory.models.extraction import (
    CustomKind as CustomKind,
    Extraction as Extraction,
)
from agent_memory.models.filters import (
    Filter as Filter,
    NumberIs as NumberIs,
    TagsAre as TagsAre,
    TextIs as TextIs,
    TimeIs as TimeIs,
    TypeIs as TypeIs,
    ValueIs as ValueIs,
)
from agent_memory.models.knowledge import (
    PROFILE_SECTIONS as PROFILE_SECTIONS,
    TYPE_ALIASES as TYPE_ALIASES,
    Changes as Changes,
    ChangeType as ChangeType,
    CitedSentence as CitedSentence,
    Contributions as Contributions,
    Entity as Entity,
    EntityView as EntityView,
    Evidence as Evidence,
    FactKind as FactKind,
    Memory as Memory,
    MemoryChange as MemoryChange,
    MemoryType as MemoryType,
    ProfileLine as ProfileLine,
    Provenance as Provenance,
    Reflection as Reflection,
    Source as Source,
    Status as Status,
    SupersedeReason as SupersedeReason,
    UserProfile as UserProfile,
    hashed as hashed,
)
from agent_memory.models.operation import (
    AuditEntry as AuditEntry,
    Budget as Budget,
    DeadLetter as DeadLetter,
    EndpointHealth as EndpointHealth,
    ExportPart as ExportPart,
    ForgetItem as ForgetItem,
    ForgetReceipt as ForgetReceipt,
    Health as Health,
    ImportReceipt as ImportReceipt,
    ProcessResult as ProcessResult,
    Receipt as Receipt,
    ReembedPlan as ReembedPlan,
    ReembedResult as ReembedResult,
    SearchMisses as SearchMisses,
    Stats as Stats,
)
from agent_memory.models.parts import (
    FilePart as FilePart,
    ImagePart as ImagePart,
    Part as Part,
    TextPart as TextPart,
    ToolCallPart as ToolCallPart,
    ToolResultPart as ToolResultPart,
)
from agent_memory.models.recall import (
    Context as Context,
    ContextFormat as ContextFormat,
    ContextSection as ContextSection,
    FoundBy as FoundBy,
    Hit as Hit,
    Name as Name,
    SearchFilters as SearchFilters,
    Signals as Signals,
)
from agent_memory.models.switches import (
    MemoryConfig as MemoryConfig,
    ScopeSettings as ScopeSettings,
)
from agent_memory.models.talk import (
    ROLE_ALIASES as ROLE_ALIASES,
    LiveView as LiveView,
    Role as Role,
    RoleField as RoleField,
    ThreadInfo as ThreadInfo,
    ThreadState as ThreadState,
    ThreadSummary as ThreadSummary,
    Turn as Turn,
    TurnInput as TurnInput,
)
