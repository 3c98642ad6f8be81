"""Calibration: the numbers by which memories are found, compared and ranked, with the data behind each.

Cosines of different embedding models cannot be compared: 0.7 is low for one model, and another never reaches it. So
each model has a record of its thresholds. The ranking constants below apply to all models.

"LoCoMo" means five of its conversations with 760 questions (Maharana et al. 2024), searched with all-MiniLM-L6-v2. Its
figures are recall: of 100 turns that answer a question, how many are among the first results. `agent-memory eval`
measures them. `tools/calibrate_duplicates.py` prints the table for `duplicate`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Calibration:
    """The cosines of one embedding model, from -1 to 1."""

    search: float
    """Above this cosine, a memory without a word of the question is related to it (`RecallSettings.thresholds`)."""
    archive: float
    """From this cosine on, an archived conversation is related to a message that asks about earlier talk."""
    same_claim: float
    """From this cosine on, two texts may make the same claim although each has words of its own (`text.wordings`)."""
    near_claim: float
    """From this cosine on, they may if one of them has all words of the other."""
    topic: float
    """From this cosine on, a text is about a topic."""
    duplicate: float
    """Above this cosine, a new memory may repeat an old one. The words decide (`text.restated`)."""
    one_thing: float
    """Above this cosine, two memories may be about one thing, so that reconciliation compares them."""
    answering: float | None
    """The mean cosine of a question and its answer. If no memory is as similar, the question may be about something
    unknown (`recall.relevance`). None: the model's cosines do not tell answers from other texts."""
    unrelated: float
    """The mean cosine of a question and the answer to another question."""


MINILM = Calibration(
    search=0.3,
    archive=0.3,
    same_claim=0.75,
    near_claim=0.5,
    topic=0.6,
    duplicate=0.9,
    one_thing=0.7,
    answering=0.37,
    unrelated=0.04,
)
"""all-MiniLM-L6-v2.

`search`, `archive`, `answering`, `unrelated`: 16 questions were compared with 16 accounts that answer one each. Pairs
that belong together have a cosine of 0.37 (standard deviation 0.15), the others 0.04 (0.08); `language.relevance_curve`
has them. The claims: two wordings of one claim lie between 0.35 and 0.92 (46 pairs), two claims about one thing between
0.3 and 0.72 (160 pairs). `duplicate`: of 42 labelled pairs, 12 are duplicates. Together with the words it finds 10 of
them and nothing wrong; the cosine alone finds 9 wrong ones. At 0.5 it would find all 12 and nothing wrong, but take
more time. `one_thing` is a choice.
"""
HASHING = Calibration(
    search=0.2,
    archive=0.15,
    same_claim=0.75,
    near_claim=0.3,
    topic=0.5,
    duplicate=0.8,
    one_thing=0.6,
    answering=None,
    unrelated=0.0,
)
"""Hashed words, on the same pairs: they know no meaning, so that cosines are lower. `duplicate` finds 8 of the 12.
Most answers share no word with the question, and then the cosine is 0."""
OTHERS = Calibration(
    search=0.6,
    archive=0.7,
    same_claim=0.8,
    near_claim=0.5,
    topic=0.6,
    duplicate=0.9,
    one_thing=0.7,
    answering=0.4,
    unrelated=0.1,
)
"""Models that were not measured: usual thresholds of such systems, and strict ones for forgetting. `answering` is low,
so that the context of a model with high cosines shows too much rather than too little."""
MEASURED = {"all-MiniLM-L6-v2": MINILM, "hashing-384": HASHING}
"""The measured models, by the beginning of their names."""


def calibration_of(embedding_model: str) -> Calibration:
    """The record of a model, found by the beginning of its name; `OTHERS` if it was not measured."""
    return next((known for name, known in MEASURED.items() if embedding_model.startswith(name)), OTHERS)


LEAST_APART = 1.0
"""Least distance, in standard deviations, between the cosines of answers and of other texts. A model below it gets no
relevance curve: at 1.0, three in ten values of two normal distributions are on the wrong side of the middle."""
CLAIM_SHARE = 1 / 2
"""Least share of a claim's words in a text that makes it too (`text.wordings`). A choice: 0.6 misses five more of 46
wordings of one claim, and takes no fewer of 60 other claims for it."""
CLAIM_OVERLAP = 2 / 3
"""Least share of the shorter text's words that two texts with the same claim have in common. A choice."""
TOPIC_SHARE = 1 / 2
"""Least share of a topic's words in a text about it, if its cosine is medium. A choice."""


@dataclass(frozen=True, slots=True)
class RelevanceWeights:
    """How likely a memory answers a question: a logistic regression, whose weights these are (`recall.relevance`)."""

    base: float
    nearness: float
    """Weight of the cosine, scaled so that `Calibration.unrelated` is 0 and `Calibration.answering` is 1."""
    coverage: float
    """Weight of the share of the question's words that it has. Words that are rare among the hits count more."""
    rank: float
    """Weight of its score as a share of the best score."""
    derived: float
    """Added if it is not a chunk."""
    asks: float
    """Added if it is a chunk that only asks."""
    agent: float
    """Added if an agent said it."""
    length: float
    """Weight of its length, as a share of `LONG`."""


RELEVANCE = RelevanceWeights(
    base=-8.83, nearness=1.06, coverage=0.99, rank=4.92, derived=0.83, asks=-1.53, agent=-1.58, length=0.88
)
"""Fitted to the 60 best hits of 1184 questions with evidence, 253 without an answer and 300 about other things, of four
sets that count alike (LoCoMo, REALTALK and BEAM, development halves, and the project's own conversations), with
all-MiniLM-L6-v2. Evidence ranks before other hits in 88, 88, 92 and 81 of 100 pairs (by the score alone in 79, 78, 90
and 76); with weights fitted to the other three sets only, in 88, 87, 91 and 81."""
SIGNS = 0.1
"""What the signs of relevance (`recall.relevance.signs`) add to a score for each unit of log-odds, as a share of the
best match. The regression says 0.2 (1 / `RELEVANCE.rank`); half of it is taken, because a score already counts words
and similarity. Among the first ten, without it, with 0.1 and with 0.2: LoCoMo 81.4, 80.7, 80.1, REALTALK 54.3, 59.7,
59.7, BEAM 60.6, 63.1, 63.3, the project's own conversations 85.6, 87.1, 87.1."""
FIRST_PERSON = 0.4
"""For a question that names a speaker, the share of its vector that comes from its wording in the first person
(`recall.phrasing`)."""
LONG = 400
"""Length of a memory in characters beyond which more length does not count. A choice."""
NEAR = 0.9
"""A point on the way from `Calibration.unrelated` (0) to `Calibration.answering` (1). If even the most similar memory
is below it, the question may be about something else."""
COVERED = 1 / 3
"""Share of the question's words, weighted by rarity, from which on a memory shows that the question is about something
known."""
OFF_TOPIC = 0.3
"""If no memory is similar and none has the words, memories are shown only above this relevance. With it, contexts
say "nothing is remembered" for 85, 62, 71 and 85 of 100 questions about something else (that find anything at all).
They wrongly say so for 2, 0, 0 and 0 of 100 questions whose evidence was found."""

BM25_K1 = 1.2
"""How quickly repeated occurrences of a word count less. The usual value (Robertson and Zaragoza 2009)."""
BM25_B = 0.4
"""How much long texts are penalised. Less than usual (0.75), because a longer turn more often holds an answer. LoCoMo:
+1."""
RRF_K = 10
"""The constant of reciprocal rank fusion, which chooses the hits whose neighbours are read. It is small, so that the
first places by either score count. A choice."""
LEAST_REPEATED = 0.2
"""Least share of a turn's words in a memory derived from it for the search to leave the turn out. With a third
instead, LoCoMo loses 0.5 among the first twenty, because more turns take two places."""
PARTS_SHOWN = 2
"""Most parts of one long turn in the results of a search. LoCoMo with up to 30 turns joined into one: among the first
twenty 82.8 with one part, 80.5 with two, 78.8 with any number. But the words that answer are in 41.6, 44.7 and 44.8 of
100 contexts of 650 tokens."""
THREAD_TOP = 3
"""A thread's lift is the sum of its best scores, at most this many, divided by this number. A choice; not measured."""

ASKING_SHARE = 0.1
"""A text asks if at least this share of its characters belongs to questions. A page that ends with an offer to help
does not. LoCoMo with this rule and the next two: 74.4 instead of 72.5 among the first five."""
ONLY_ASKING_SHARE = 0.5
"""A text may only ask if at least this share of its characters belongs to questions."""
ONLY_ASKING_WORDS = 8
"""Most words beside the questions of a text that only asks: "Wow, that sounds great!"."""

RECENCY_HALF_LIFE_DAYS = 30.0
"""Days after which recency counts half. This and the next two are choices; their weights are 0 by default."""
USES_FOR_HALF = 5
"""Number of uses at which half of the use weight counts."""
TRUST = {"user": 1.0, "imported": 0.7, "agent": 0.5, "tool": 0.5}
"""How far each source is trusted. The confidence of the memory is a factor of its own."""
