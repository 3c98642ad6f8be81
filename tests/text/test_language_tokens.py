import gzip
import hashlib
import socket
import threading
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from agent_memory.errors import ConfigurationError
from agent_memory.text import tokens
from agent_memory.text.tokens import ApproximateTokens, TiktokenCounter, TokenCounter, read_ranks

O200K = TiktokenCounter("o200k_base")
CL100K = TiktokenCounter("cl100k_base")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("a token counter opened a socket")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.mark.req("S2-27")
@pytest.mark.parametrize(
    ("text", "o200k", "cl100k"),
    [
        ("", 0, 0),
        ("hello world", 2, 2),
        # the examples of OpenAI's own guide to counting tokens
        ("tiktoken is great!", 6, 6),
        ("antidisestablishmentarianism", 6, 6),
        ("2 + 2 = 4", 7, 7),
        ("お誕生日おめでとう", 8, 9),
    ],
)
def test_counts_equal_the_models_own(text, o200k, cl100k):
    assert (O200K.count(text), CL100K.count(text)) == (o200k, cl100k)


def test_names_of_special_tokens_are_plain_text():
    assert O200K.count("<|endoftext|>") > 1


@pytest.mark.parametrize("counter", [O200K, CL100K, ApproximateTokens()])
@given(text=st.text(max_size=200), limit=st.integers(-1, 60))
@settings(max_examples=150, deadline=None)
def test_a_truncated_text_is_a_beginning_that_fits(counter, text, limit):
    short = counter.truncate(text, limit)
    assert text.startswith(short)
    assert counter.count(short) <= max(limit, 0)
    if counter.count(text) <= limit:
        assert short == text


def test_truncation_uses_the_room_it_has():
    text = "The ferry to Skye leaves at nine, and again at noon. " * 40
    assert O200K.count(O200K.truncate(text, 100)) == 100
    assert ApproximateTokens().truncate("abcdefghij", 2) == "abcdefgh"


def test_truncation_never_splits_a_character():
    family = "👩‍👩‍👧‍👦" * 10
    for limit in range(1, 30):
        assert family.startswith(O200K.truncate(family, limit))
    assert ApproximateTokens().truncate("ééé", 1) == "éé"


@pytest.mark.req("S4-45")
@pytest.mark.parametrize(("text", "count"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("日本", 2)])
def test_the_approximation_is_four_bytes_to_a_token(text, count):
    assert ApproximateTokens().count(text) == count


def test_all_counters_fit_the_protocol():
    assert isinstance(O200K, TokenCounter)
    assert isinstance(ApproximateTokens(), TokenCounter)


def test_threads_share_one_encoding(monkeypatch):
    tokens._load.cache_clear()
    loads = []
    real = read_ranks
    monkeypatch.setattr(tokens, "read_ranks", lambda *arguments: loads.append(1) or real(*arguments))
    threads = [threading.Thread(target=TiktokenCounter("cl100k_base").count, args=("hello",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loads == [1]


def test_changed_ranks_are_refused():
    packed = (files("agent_memory.language") / "data" / "cl100k_base.tiktoken.gz").read_bytes()
    sha256 = tokens._RANKS["cl100k_base"].sha256
    assert len(read_ranks(packed, sha256)) == 100_256
    tampered = gzip.compress(gzip.decompress(packed).replace(b"IQ== 0\n", b"IQ== 7\n", 1), compresslevel=1)
    with pytest.raises(ConfigurationError, match="the file was changed"):
        read_ranks(tampered, sha256)
    with pytest.raises(ConfigurationError, match="cannot be unpacked"):
        read_ranks(packed[:1000], sha256)


def test_what_others_made_is_named_in_the_notice_with_its_hash():
    notice = (Path(__file__).parents[2] / "NOTICE").read_text()
    data = files("agent_memory.language") / "data"
    contents = {item.name: item.read_bytes() for item in data.iterdir() if not item.name.endswith(".LICENSE")}
    assert set(contents) == {"tokenizer.json", "o200k_base.tiktoken.gz", "cl100k_base.tiktoken.gz"}
    for name, content in contents.items():
        plain = gzip.decompress(content) if name.endswith(".gz") else content
        assert name in notice
        assert hashlib.sha256(plain).hexdigest() in notice


def test_a_huge_text_is_cut_in_reasonable_time():
    assert O200K.count(O200K.truncate("a" * 300_000, 256)) == 256
