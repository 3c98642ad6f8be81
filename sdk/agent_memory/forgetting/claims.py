"""Claims: the texts that say what is to be forgotten, found by the words that another text shares with them.

A topic may have ten thousand claims. A text is compared by meaning only with those that it can repeat at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from agent_memory.calibration import CLAIM_SHARE, Calibration
from agent_memory.text.figures import telling_figures
from agent_memory.text.wordings import is_same, wording_of, wordings

TELLING_TURN = 300
"""Maximum characters of a claim whose figures all count as part of what is forgotten."""


class Claims:
    """Texts that say what is to be forgotten, and the figures that identify it."""

    def __init__(self, texts: Iterable[str], limits: Calibration) -> None:
        """Keeps each text once; `limits` are those of the embedding model."""
        self.texts = list(dict.fromkeys(texts))
        self.figures = {one for text in self.texts if len(text) <= TELLING_TURN for one in telling_figures(text)}
        self._limits = limits
        self._wordings = [wording_of(text) for text in self.texts]
        self._with_word = _index(wording.words for wording in self._wordings)
        self._with_figure = _index(map(telling_figures, self.texts))

    def repeated_by(self, text: str) -> list[str]:
        """The claims that a text makes too if their cosine is high enough, as `Likeness.same_claim` decides."""
        found = {number for figure in telling_figures(text) for number in self._with_figure.get(figure, ())}
        for said in wordings(text):
            shared = Counter(number for word in said.words for number in self._with_word.get(word, ()))
            found |= {
                number
                for number, count in shared.items()
                if count >= CLAIM_SHARE * len(self._wordings[number].words)
                and is_same(self._wordings[number], said, 1.0, self._limits)
            }
        return [self.texts[number] for number in sorted(found)]

    def __iter__(self) -> Iterator[str]:
        """The texts."""
        return iter(self.texts)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.texts)


def _index(parts: Iterable[Iterable[str]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, keys in enumerate(parts):
        for key in keys:
            found.setdefault(key, []).append(number)
    return found
