"""What the HTTP API reads from the environment: who may call it, and how often."""

from __future__ import annotations

from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from agent_memory.api.credentials import ApiKeys, Claims, HeaderIdentity, JwtIdentity, PlatformPrincipal
from agent_memory.api.explorer import Explorer
from agent_memory.api.identity import AnyOf, Identity
from agent_memory.api.mcp import McpOptions
from agent_memory.errors import ConfigurationError

RATE_LIMIT = "1200/minute"
"""Twenty requests a second: far above the needs of one person's agent, and a limit on a runaway loop."""


class ApiSettings(BaseSettings):
    """The environment variables of the API."""

    model_config = SettingsConfigDict(env_file=None, extra="ignore", populate_by_name=True)

    platform_auth: bool = Field(
        default=False,
        # The platform sets the second one when its authentication is on.
        validation_alias=AliasChoices("AGENT_MEMORY_PLATFORM_AUTH", "WEBSITE_AUTH_ENABLED"),
    )
    jwt_issuer: str | None = Field(default=None, validation_alias="AGENT_MEMORY_JWT_ISSUER")
    jwt_audience: str | None = Field(default=None, validation_alias="AGENT_MEMORY_JWT_AUDIENCE")
    user_claim: str = Field(default="oid", validation_alias="AGENT_MEMORY_USER_CLAIM")
    act_role: str = Field(default="Memory.ActForUsers", validation_alias="AGENT_MEMORY_ACT_ROLE")
    operator_role: str = Field(default="Memory.Operate", validation_alias="AGENT_MEMORY_OPERATOR_ROLE")
    groups_claim: str = Field(default="groups", validation_alias="AGENT_MEMORY_GROUPS_CLAIM")
    api_keys: SecretStr | None = Field(default=None, validation_alias="AGENT_MEMORY_API_KEYS")
    api_keys_file: Path | None = Field(default=None, validation_alias="AGENT_MEMORY_API_KEYS_FILE")
    rate_limit: str = Field(default=RATE_LIMIT, validation_alias="AGENT_MEMORY_RATE_LIMIT")
    public_url: str | None = Field(default=None, validation_alias="AGENT_MEMORY_PUBLIC_URL")
    jwt_scopes: str = Field(default="", validation_alias="AGENT_MEMORY_JWT_SCOPES")
    explorer_key: SecretStr | None = Field(default=None, validation_alias="AGENT_MEMORY_EXPLORER_KEY")
    allowed_origins_text: str = Field(default="", validation_alias="AGENT_MEMORY_ALLOWED_ORIGINS")

    @property
    def allowed_origins(self) -> list[str]:
        """The sites whose pages may call the API, as browsers name them.

        Raises:
            ConfigurationError: if one is not an origin such as `https://app.example`.
        """
        origins = [origin.strip().rstrip("/") for origin in self.allowed_origins_text.split(",") if origin.strip()]
        for origin in origins:
            scheme, separator, rest = origin.partition("://")
            if not (scheme and separator and rest) or "/" in rest or "*" in rest:
                raise ConfigurationError(
                    f"AGENT_MEMORY_ALLOWED_ORIGINS takes origins such as https://app.example, not {origin!r}"
                )
        return origins

    def mcp(self, *, streams: bool) -> McpOptions:
        """How `/mcp` presents itself. Raises ConfigurationError if the public URL is not a URL."""
        issuers = () if self.jwt_issuer is None else (self.jwt_issuer,)
        return McpOptions(self.public_url, issuers, self.jwt_scopes.split(), streams)

    @property
    def knows_callers(self) -> bool:
        """Whether any identity but the header of development is set."""
        given = (self.jwt_issuer, self.api_keys, self.api_keys_file)
        return self.platform_auth or any(one is not None for one in given)

    def explorer(self) -> Explorer:
        """The explorer, with the key that all instances share, if one is set.

        Raises:
            ConfigurationError: if the key is too short.
        """
        return Explorer(None if self.explorer_key is None else self.explorer_key.get_secret_value())

    def identity(self, *, header: HeaderIdentity | None) -> Identity:
        """The credentials that are accepted; the header, if it is one of them, is the last resort.

        Raises:
            ConfigurationError: if a setting lacks its other half, or the keys cannot be read.
        """
        claims = Claims(self.user_claim, self.act_role, self.operator_role, self.groups_claim)
        kinds: list[Identity] = []
        if self.platform_auth:
            kinds.append(PlatformPrincipal(claims))
        if self.jwt_issuer is not None:
            if self.jwt_audience is None:
                raise ConfigurationError("AGENT_MEMORY_JWT_ISSUER also needs AGENT_MEMORY_JWT_AUDIENCE")
            kinds.append(JwtIdentity(self.jwt_issuer, self.jwt_audience, claims))
        kinds += [ApiKeys.parse(text) for text in self._key_texts()]
        return AnyOf(kinds if header is None else [*kinds, header])

    def _key_texts(self) -> list[str]:
        if self.api_keys is not None and self.api_keys_file is not None:
            raise ConfigurationError("set AGENT_MEMORY_API_KEYS or AGENT_MEMORY_API_KEYS_FILE, not both")
        if self.api_keys is not None:
            return [self.api_keys.get_secret_value()]
        if self.api_keys_file is None:
            return []
        try:
            return [self.api_keys_file.read_text()]
        except OSError as error:
            raise ConfigurationError(f"the file of AGENT_MEMORY_API_KEYS_FILE cannot be read: {error}") from error
