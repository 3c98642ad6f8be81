"""VectorDistance and the full-text functions: what their arguments mean in a container, and their plain evaluation.

Those that begin with an underscore stand in the queries of a plan only (see `plan`), which clients send to each
partition: _VectorScore is the higher the better whatever the distance function, _FullTextScore is given the statistics
of the whole container, and _FullTextWordCount is what these are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from embedded_cosmos.errors import CosmosError, bad_request
from embedded_cosmos.properties import ContainerProperties, DistanceFunction, VectorEmbedding, path_segments
from embedded_cosmos.query.analysis import Analyzer
from embedded_cosmos.query.fulltext import Phrase, Statistics, occurrences
from embedded_cosmos.query.index import Keys, overlap
from embedded_cosmos.query.vectors import DISTANCE_FUNCTIONS, Vector, as_vector, distance
from embedded_cosmos.sql import ast
from embedded_cosmos.sql.evaluate import Compiler, Environment, Evaluator, Intrinsic, path_of
from embedded_cosmos.sql.values import UNDEFINED, Json, is_number

FULL_TEXT_PREDICATES = ("FULLTEXTCONTAINS", "FULLTEXTCONTAINSALL", "FULLTEXTCONTAINSANY")
SCORE_FUNCTIONS = ("VECTORDISTANCE", "FULLTEXTSCORE", "RRF")
PLANNED_SCORES = ("_VECTORSCORE", "_FULLTEXTSCORE")
_OPTIONS = {
    "distanceFunction",
    "dataType",
    "searchListSizeMultiplier",
    "quantizedVectorListMultiplier",
    "filterPriority",
}


@dataclass(frozen=True, slots=True)
class VectorScore:
    """`VectorDistance(path, constant)`, checked."""

    keys: Keys
    query: Vector
    function: DistanceFunction
    indexed: bool
    """Whether the path's index has the vectors, that is, whether the dimensions are those of the policy."""


@dataclass(frozen=True, slots=True)
class TextScore:
    """`FullTextScore(path, keywords…)`, checked; the keywords without repetition, and the phrases that they are."""

    keys: Keys
    keywords: tuple[str, ...]
    phrases: tuple[Phrase, ...]
    analyzer: Analyzer
    statistics: Statistics | None = None
    """Statistics of the whole container, if the query has them; otherwise those of its shards are used."""


@dataclass(frozen=True, slots=True)
class TextPredicate:
    """One of the FullTextContains family, checked."""

    keys: Keys
    phrases: tuple[Phrase, ...]
    any_of: bool
    analyzer: Analyzer


class SearchFunctions:
    """The search functions of one container, for a query that calls its items by an alias."""

    def __init__(self, properties: ContainerProperties, alias: str) -> None:
        self.alias = alias
        self._embeddings: dict[Keys, VectorEmbedding] = {
            path_segments(path): embedding for path, embedding in properties.vector_embeddings.items()
        }
        self._first_keys = {keys[0] for keys in self._embeddings}
        self._analyzers: dict[Keys, Analyzer] = {
            path_segments(path): Analyzer(language) for path, language in properties.full_text_paths.items()
        }
        default = properties.full_text_language
        self._default_analyzer = None if default is None else Analyzer(default)
        self.intrinsics: Mapping[str, Intrinsic] = {
            "VECTORDISTANCE": self._compile_distance,
            **dict.fromkeys(FULL_TEXT_PREDICATES, self._compile_predicate),
            "FULLTEXTSCORE": _outside_rank,
            "RRF": _outside_rank,
            **dict.fromkeys(PLANNED_SCORES, _outside_plan),
            "_FULLTEXTWORDCOUNT": self._compile_word_count,
        }

    def vector_score(self, call: ast.Call) -> VectorScore | None:
        """`VectorDistance(path, constant)`; None when its arguments are something else. Raises 400 for wrong ones.

        A constant of other dimensions than the policy says is none: such a distance is undefined.
        """
        _check_distance(call)
        sides = call.arguments[:2]
        for path, constant in (sides, sides[::-1]):
            place = path_of(path)
            if place is not None and place[0] == self.alias and place[1] and isinstance(constant, ast.Literal):
                vector = as_vector(constant.value)
                if vector is None:
                    raise bad_request("The vector of VectorDistance must be a non-empty array of numbers.")
                embedding = self._embeddings.get(place[1])
                indexed = embedding is not None and embedding.dimensions == len(vector)
                return VectorScore(place[1], vector, self._function(call), indexed)
        return None

    def may_read_vectors(self, item: ast.SelectItem) -> bool:
        """Whether a column has to be looked at with `reads_vectors`."""
        return item.may_read(self._first_keys)

    def reads_vectors(self, node: object, known: Sequence[ast.Call] = ()) -> bool:
        """Whether evaluating the expression or source looks at a vector of the policy, or at what contains one.

        The values of the `known` calls need no evaluation.
        """
        column = ast.property_of(node)
        if column is not None:
            return column[0] == self.alias and column[1] in self._first_keys
        place = path_of(node)
        if place is not None:
            return place[0] == self.alias and any(overlap(place[1], keys) for keys in self._embeddings)
        if isinstance(node, ast.Call) and node in known:
            return False
        return any(self.reads_vectors(child, known) for child in ast.children(node))

    def text_score(self, call: ast.Call) -> TextScore:
        """The score of `ORDER BY RANK FullTextScore(…)`."""
        keys, analyzer, keywords = self._text_arguments(call, call.arguments[1:])
        by_phrase: dict[Phrase, str] = {}
        for keyword in keywords:
            by_phrase.setdefault(tuple(analyzer.terms(keyword)), keyword)
        return TextScore(keys, tuple(by_phrase.values()), tuple(by_phrase), analyzer)

    def planned_text_score(self, call: ast.Call) -> TextScore:
        """The score of `_FullTextScore(path, [keywords], documents, words in all of them, [hits])`."""
        keys, analyzer = self._text_path(call)
        match [argument.value if isinstance(argument, ast.Literal) else None for argument in call.arguments[1:]]:
            case [list() as keywords, int() as documents, int() as words, list() as hits] if len(keywords) == len(
                hits
            ) and all(map(is_number, hits)):
                phrases = tuple(tuple(analyzer.terms(str(keyword))) for keyword in keywords)
                statistics = Statistics(documents, words, tuple(hits))
                return TextScore(keys, tuple(keywords), phrases, analyzer, statistics)
        raise bad_request("_FullTextScore takes a path, keywords, and the statistics of these in the container.")

    def text_predicate(self, call: ast.Call) -> TextPredicate:
        """The filter of `FullTextContains(…)` or its …All and …Any."""
        keys, analyzer, keywords = self._text_arguments(call, call.arguments[1:])
        if call.name == "FULLTEXTCONTAINS" and len(keywords) != 1:
            raise bad_request("FullTextContains takes one keyword or phrase; use FullTextContainsAll or …Any for more.")
        phrases = tuple(tuple(analyzer.terms(keyword)) for keyword in keywords)
        return TextPredicate(keys, phrases, call.name == "FULLTEXTCONTAINSANY", analyzer)

    def _compile_distance(self, compiler: Compiler, call: ast.Call) -> Evaluator:
        _check_distance(call)
        function = self._function(call)
        left, right = (_vectors(compiler, argument) for argument in call.arguments[:2])
        return lambda environment: distance(left(environment), right(environment), function)

    def _compile_predicate(self, compiler: Compiler, call: ast.Call) -> Evaluator:
        predicate = self.text_predicate(call)
        text = compiler.compile(call.arguments[0])
        analyze, combine = predicate.analyzer.terms, any if predicate.any_of else all

        def contains(environment: Environment) -> Json:
            value = text(environment)
            if type(value) is not str:
                return UNDEFINED
            terms = analyze(value)
            return combine(occurrences(phrase, terms) > 0 for phrase in predicate.phrases)

        return contains

    def _compile_word_count(self, compiler: Compiler, call: ast.Call) -> Evaluator:
        if len(call.arguments) != 1:
            raise _arity(call, "1")
        _, analyzer = self._text_path(call)
        text = compiler.compile(call.arguments[0])

        def count(environment: Environment) -> Json:
            value = text(environment)
            return len(analyzer.terms(value)) if type(value) is str else UNDEFINED

        return count

    def _function(self, call: ast.Call) -> DistanceFunction:
        chosen = _constant(call, 3, {}).get("distanceFunction")
        if chosen is not None:
            for function in DISTANCE_FUNCTIONS:
                if isinstance(chosen, str) and chosen.lower() == function:
                    return function
            raise bad_request(f"The distanceFunction of VectorDistance must be one of {', '.join(DISTANCE_FUNCTIONS)}.")
        places = (path_of(argument) for argument in call.arguments[:2])
        for place in places:
            if place is not None and place[1] in self._embeddings:
                return self._embeddings[place[1]].distance_function
        return "cosine"

    def _text_arguments(
        self, call: ast.Call, keywords: tuple[ast.Expression, ...]
    ) -> tuple[Keys, Analyzer, tuple[str, ...]]:
        if not keywords:
            raise _arity(call, "at least 2")
        keys, analyzer = self._text_path(call)
        return keys, analyzer, _keywords(call, keywords)

    def _text_path(self, call: ast.Call) -> tuple[Keys, Analyzer]:
        place = path_of(call.arguments[0])
        if place is None or place[0] != self.alias or not place[1]:
            raise bad_request(f"{_shown(call)} takes a property path of the item as its first argument.")
        # A path outside the policy is searched without an index, as long as there is a policy.
        analyzer = self._analyzers.get(place[1], self._default_analyzer)
        if analyzer is None:
            path = "/" + "/".join(map(str, place[1]))
            raise bad_request(f"{_shown(call)} on '{path}' needs a full-text policy of the container.")
        return place[1], analyzer


def _vectors(compiler: Compiler, argument: ast.Expression) -> Callable[[Environment], Vector | None]:
    """The vector that an argument is in each row; one that is written out is read once."""
    if isinstance(argument, ast.Literal):
        constant = as_vector(argument.value)
        return lambda environment: constant
    value = compiler.compile(argument)
    return lambda environment: as_vector(value(environment))


def _check_distance(call: ast.Call) -> None:
    if not 2 <= len(call.arguments) <= 4:
        raise _arity(call, "2 to 4")
    flag, options = _constant(call, 2, False), _constant(call, 3, {})
    if not isinstance(flag, bool):
        raise bad_request("The third argument of VectorDistance must be true (brute force) or false.")
    if not isinstance(options, dict) or not _OPTIONS.issuperset(options):
        raise bad_request(f"The fourth argument of VectorDistance takes the options {', '.join(sorted(_OPTIONS))}.")


def _keywords(call: ast.Call, arguments: tuple[ast.Expression, ...]) -> tuple[str, ...]:
    values = [argument.value if isinstance(argument, ast.Literal) else UNDEFINED for argument in arguments]
    flat = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    if not flat or not all(isinstance(value, str) for value in flat):
        raise bad_request(f"The keywords of {_shown(call)} must be strings, or one array of strings, known beforehand.")
    return tuple(flat)


def _constant(call: ast.Call, position: int, default: Json) -> Json:
    if position >= len(call.arguments):
        return default
    argument = call.arguments[position]
    return argument.value if isinstance(argument, ast.Literal) else UNDEFINED


def _arity(call: ast.Call, expected: str) -> CosmosError:
    return bad_request(
        f"The {_shown(call)} function requires {expected} argument(s), but was given {len(call.arguments)}."
    )


def _outside_rank(compiler: Compiler, call: ast.Call) -> Evaluator:
    raise bad_request(f"The {_shown(call)} function is only allowed in the ORDER BY RANK clause.")


def _outside_plan(compiler: Compiler, call: ast.Call) -> Evaluator:
    raise bad_request(f"The {call.name} function is only allowed in queries that a query plan gives.")


_SHOWN = {
    "VECTORDISTANCE": "VectorDistance",
    "FULLTEXTCONTAINS": "FullTextContains",
    "FULLTEXTCONTAINSALL": "FullTextContainsAll",
    "FULLTEXTCONTAINSANY": "FullTextContainsAny",
    "FULLTEXTSCORE": "FullTextScore",
}


def _shown(call: ast.Call) -> str:
    return _SHOWN.get(call.name, call.name)
