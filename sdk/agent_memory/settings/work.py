"""How often background work runs, how much of it at a time, and the address that is told of changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from unicodedata import normalize
from urllib.parse import urlsplit

from agent_memory.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Cadence:
    """How often background work runs. 0 disables a step.

    `extract` and `summarize` count turns of a thread, `profile` turns of a user, `reconcile` and `deepen` (merging,
    procedures, reflection, pruning) extractions of a user. A thread that has been quiet for `idle_seconds` is processed
    whatever its count (0 disables this), and with `archive` also archived, like one that was ended. If `deepen` is on,
    it also runs every `deepen_hours` for each user for whom anything was extracted since, or whose memories have faded
    (0 disables this).

    If `drift` is above 0, a thread in which the user changes the topic is extracted and summarised before its count is
    reached. The topic has changed if what they say now is further from the topic so far than this cosine distance (0 to
    2). The right value depends on the embedding model, and none suits all conversations (`docs/decisions/0007` has
    figures), so it is off by default.

    With `one_call`, if extraction and summary of the same turns are due, one call to the language model does both (the
    prompt `extract_and_summarize`). This saves a call, and the turns are read only once. A half that cannot be used is
    asked for alone.

    With a `stretch` above 1, only the first batch of a thread is as small as `extract` and `summarize` say; later ones
    wait for `stretch` times as many turns. Meanwhile the turns are indexed and found, and the end of a conversation
    still processes all of them. Most of a short batch is the prompt, so this nearly halves the calls.

    Without a language model, `one_call` and `stretch` have no effect, because the rules cost nothing.
    A memory without a cadence uses `DEFAULT_CADENCE`; the numbers of a cadence that you pass apply exactly.
    """

    extract: int = 10
    summarize: int = 10
    profile: int = 20
    reconcile: int = 5
    deepen: int = 0
    idle_seconds: float = 120.0
    archive: bool = False
    drift: float = 0.0
    deepen_hours: float = 24.0
    one_call: bool = False
    stretch: int = 1


DEFAULT_CADENCE = Cadence(one_call=True, stretch=2)
"""The default cadence: facts and summary in one call, after 10 turns, then after every 20."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one run of a step, so that a long backlog is processed in pieces.

    A turn with more than `turn_sentences` sentences and lines becomes a dead letter without extraction: the longest
    turn that a store accepts, 1.7 million characters, has about 20,000 if it is real conversation, and each costs the
    rules a millisecond or two. The turn is still indexed, up to what one commit can hold.

    Facts about one thing are merged if there are at least `merge_from`; merging, procedures and reflection read the
    newest `deepen_memories`. A commit is one transactional batch: at most 100 operations and 2 MB (Azure Cosmos DB
    service limits).
    """

    batch_turns: int = 30
    turn_sentences: int = 50_000
    batch_tokens: int = 4000
    turns_before: int = 5
    batch_memories: int = 50
    reconcile_candidates: int = 50
    profile_facts: int = 100
    merge_from: int = 5
    deepen_memories: int = 200
    state_ttl_seconds: int = 7 * 24 * 3600


SHORTEST_SECRET = 16
"""Minimum length, in characters. A shorter secret could be guessed from one signed message."""
_PLATFORM = IPv4Address("168.63.129.16")
"""Azure's platform gives a virtual machine data about itself at this address (Microsoft Learn, "IP address
168.63.129.16"). It is in a public range."""
_NAT64 = IPv6Network("64:ff9b::/96")
_COMPATIBLE = IPv6Network("::/96")
"""IPv4 addresses in an old form (RFC 4291, 2.5.5.1)."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """An address that receives the changes of all users' memories.

    Attributes:
        url: The address to post changes to. It must be https, unless `allow_private`.
        secret: Signs each message. It has at least 16 characters, and the receiver knows it too.
        allow_private: Whether the address may be on this machine or in a private network, and use http.

    Raises:
        ConfigurationError: if the address or the secret cannot be used.
    """

    url: str
    secret: str = field(repr=False)
    allow_private: bool = False

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.url)
            host, schemes = parts.hostname, ("https", "http") if self.allow_private else ("https",)
            usable = parts.scheme in schemes and host and not parts.username and (parts.port is None or parts.port)
        except ValueError:
            host, usable = None, False
        if not usable or host is None:
            raise ConfigurationError(
                "the webhook's URL must be like https://example.com/path, without a user's name; http needs"
                " AGENT_MEMORY_WEBHOOK_PRIVATE=true"
            )
        if not self.allow_private and not _may_be_called(host):
            raise ConfigurationError("the webhook is in a private network; AGENT_MEMORY_WEBHOOK_PRIVATE=true allows it")
        if len(self.secret) < SHORTEST_SECRET:
            raise ConfigurationError(f"the webhook's secret must have at least {SHORTEST_SECRET} characters")


def is_public(address: str) -> bool:
    """Whether an IP address is on the internet: not this machine, no private network, not the platform's own."""
    ip = ip_address(address.partition("%")[0])
    return all(one.is_global and not one.is_multicast and one != _PLATFORM for one in (ip, *_within(ip)))


def _within(ip: IPv4Address | IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for."""
    if isinstance(ip, IPv4Address):
        return []
    found = [ip.sixtofour, *(ip.teredo or ())]
    if ip in _NAT64 or ip in _COMPATIBLE:
        found.append(IPv4Address(int(ip) & 0xFFFFFFFF))
    return [one for one in (*found, ip.ipv4_mapped) if one is not None]


def _may_be_called(host: str) -> bool:
    """Whether a host is a public address, or a name. A name is checked again when it is resolved.

    Clients read digits and full stops in their wide forms as addresses too (Unicode Technical Standard 46).
    """
    plain = normalize("NFKC", host).replace("\u3002", ".").rstrip(".")
    try:
        return is_public(plain)
    except ValueError:
        return plain != "localhost" and not plain.endswith(".localhost")
