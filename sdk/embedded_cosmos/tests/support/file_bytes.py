"""What the bytes of a store file and its companions still say."""

from pathlib import Path


def traces(store: Path, *words: str | bytes) -> dict[str, int]:
    """How often the words stand in each file of a store (itself, -wal, -shm, -lock, …) that holds any of them.

    Words are found in whatever case, as UTF-8 and in the escapes of JSON.
    """
    needles = {needle for word in words for needle in _forms(word)}
    counts = {
        path.name: sum(path.read_bytes().lower().count(needle) for needle in needles)
        for path in sorted(store.parent.glob(f"{store.name}*"))
    }
    return {name: count for name, count in counts.items() if count}


def _forms(word: str | bytes) -> set[bytes]:
    if isinstance(word, bytes):
        return {word.lower()}
    return {word.lower().encode(), word.lower().encode("ascii", "backslashreplace")}
