"""What can be set, with its default, its unit and the environment name that sets it."""

from agent_memory.settings.environment import Environment, env_variable
from agent_memory.settings.models import (
    CHAT_VARIABLE,
    EMBEDDINGS_VARIABLE,
    ModelName,
    names_provider,
    read_model_name,
)
from agent_memory.settings.policy import (
    NO_TIER,
    TIERS,
    UNLIMITED,
    InstructionsAction,
    PolicySettings,
    SecretsAction,
    Tier,
    TierResolver,
    read_tiers,
)
from agent_memory.settings.recall import (
    ARCHIVE_TRIGGERS,
    RECALL_PREFIX,
    Classifier,
    QueryStrategy,
    RecallSettings,
    read_recall,
)
from agent_memory.settings.roles import CHAT_PREFIX, NO_MODEL, ROLES, ChatRole, RoleSettings, read_roles, role_variable
from agent_memory.settings.webhook import Webhook, is_public
from agent_memory.settings.work import DEFAULT_CADENCE, Cadence, Limits

__all__ = [
    "ARCHIVE_TRIGGERS",
    "CHAT_PREFIX",
    "CHAT_VARIABLE",
    "DEFAULT_CADENCE",
    "EMBEDDINGS_VARIABLE",
    "NO_MODEL",
    "NO_TIER",
    "RECALL_PREFIX",
    "ROLES",
    "TIERS",
    "UNLIMITED",
    "Cadence",
    "ChatRole",
    "Classifier",
    "Environment",
    "InstructionsAction",
    "Limits",
    "ModelName",
    "PolicySettings",
    "QueryStrategy",
    "RecallSettings",
    "RoleSettings",
    "SecretsAction",
    "Tier",
    "TierResolver",
    "Webhook",
    "env_variable",
    "is_public",
    "names_provider",
    "read_model_name",
    "read_recall",
    "read_roles",
    "read_tiers",
    "role_variable",
]
