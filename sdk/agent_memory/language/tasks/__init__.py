"""What this library asks of a language model: named tasks with typed input, typed output and a prompt file.

An adapter runs any task. It is told nothing but the task and its input, so a transcript can reach a model only
as the data of an input model, and an answer can reach the store only through an output model.
"""

from agent_memory.language.tasks.evaluation import (
    ANSWER as ANSWER,
    JUDGE as JUDGE,
    MARK as MARK,
    AnswerInput as AnswerInput,
    AnswerOutput as AnswerOutput,
    JudgeInput as JudgeInput,
    JudgeOutput as JudgeOutput,
    Mark as Mark,
    MarkedMemory as MarkedMemory,
    MarkInput as MarkInput,
    MarkOutput as MarkOutput,
)
from agent_memory.language.tasks.memories import (
    CONSOLIDATE as CONSOLIDATE,
    PROFILE as PROFILE,
    RECONCILE as RECONCILE,
    REFLECT as REFLECT,
    SYNTHESIZE as SYNTHESIZE,
    Conclusion as Conclusion,
    ConsolidateInput as ConsolidateInput,
    ConsolidateOutput as ConsolidateOutput,
    Contradiction as Contradiction,
    Duplicates as Duplicates,
    Group as Group,
    Insight as Insight,
    ProfileInput as ProfileInput,
    ProfileOutput as ProfileOutput,
    ProfileView as ProfileView,
    ReconcileInput as ReconcileInput,
    ReconcileOutput as ReconcileOutput,
    ReflectInput as ReflectInput,
    ReflectOutput as ReflectOutput,
    SynthesizeInput as SynthesizeInput,
    SynthesizeOutput as SynthesizeOutput,
)
from agent_memory.language.tasks.ports import (
    ChatModel as ChatModel,
    Embedded as Embedded,
    EmbeddingModel as EmbeddingModel,
    Vector as Vector,
)
from agent_memory.language.tasks.questions import (
    HYDE as HYDE,
    QUERY_REWRITE as QUERY_REWRITE,
    REFLECT_ON as REFLECT_ON,
    RERANK as RERANK,
    SELECT as SELECT,
    CitedText as CitedText,
    HydeInput as HydeInput,
    HydeOutput as HydeOutput,
    QueryRewriteInput as QueryRewriteInput,
    QueryRewriteOutput as QueryRewriteOutput,
    Quotation as Quotation,
    RatedNote as RatedNote,
    ReflectOnInput as ReflectOnInput,
    ReflectOnOutput as ReflectOnOutput,
    RerankInput as RerankInput,
    RerankOutput as RerankOutput,
    SelectInput as SelectInput,
    SelectOutput as SelectOutput,
)
from agent_memory.language.tasks.talk import (
    ARCHIVE as ARCHIVE,
    EXTRACT as EXTRACT,
    EXTRACT_AND_SUMMARIZE as EXTRACT_AND_SUMMARIZE,
    REPLY as REPLY,
    SUMMARIZE as SUMMARIZE,
    ArchiveInput as ArchiveInput,
    ArchiveOutput as ArchiveOutput,
    Correction as Correction,
    ExtractAndSummarizeInput as ExtractAndSummarizeInput,
    ExtractAndSummarizeOutput as ExtractAndSummarizeOutput,
    ExtractedMemory as ExtractedMemory,
    ExtractInput as ExtractInput,
    ExtractOutput as ExtractOutput,
    ReplyInput as ReplyInput,
    ReplyOutput as ReplyOutput,
    SummarizeInput as SummarizeInput,
    SummarizeOutput as SummarizeOutput,
    SummaryView as SummaryView,
)
from agent_memory.language.tasks.task import (
    Data as Data,
    In as In,
    Out as Out,
    Task as Task,
    TaskResult as TaskResult,
)
from agent_memory.language.tasks.views import (
    FactView as FactView,
    MessageView as MessageView,
    NoteView as NoteView,
    TurnView as TurnView,
)
