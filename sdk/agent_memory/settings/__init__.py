"""What can be set, with its default, its unit and the environment name that sets it."""

from agent_memory.settings.environment import (
    Environment as Environment,
    env_variable as env_variable,
)
from agent_memory.settings.models import (
    CHAT_PREFIX as CHAT_PREFIX,
    CHAT_VARIABLE as CHAT_VARIABLE,
    EMBEDDINGS_VARIABLE as EMBEDDINGS_VARIABLE,
    NO_MODEL as NO_MODEL,
    ROLES as ROLES,
    ChatRole as ChatRole,
    ModelName as ModelName,
    RoleSettings as RoleSettings,
    names_provider as names_provider,
    read_model_name as read_model_name,
    read_roles as read_roles,
    role_variable as role_variable,
)
from agent_memory.settings.policy import (
    NO_TIER as NO_TIER,
    TIERS as TIERS,
    UNLIMITED as UNLIMITED,
    InstructionsAction as InstructionsAction,
    PolicySettings as PolicySettings,
    SecretsAction as SecretsAction,
    Tier as Tier,
    TierResolver as TierResolver,
    read_tiers as read_tiers,
)
from agent_memory.settings.recall import (
    ARCHIVE_TRIGGERS as ARCHIVE_TRIGGERS,
    RECALL_PREFIX as RECALL_PREFIX,
    Classifier as Classifier,
    QueryStrategy as QueryStrategy,
    RecallSettings as RecallSettings,
    read_recall as read_recall,
)
from agent_memory.settings.work import (
    DEFAULT_CADENCE as DEFAULT_CADENCE,
    Cadence as Cadence,
    Limits as Limits,
    Webhook as Webhook,
    is_public as is_public,
)
