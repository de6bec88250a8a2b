"""Relations that a chain of thought states: "Ada is Ben's aunt", "the aunt of Ben is Ada", "Ada and Ben are siblings".

Which sentences are read at all is decided in `storyproof.language.chain_of_thought`; here is what such a
statement looks like, and what the families that fit the story say about it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from storyproof.errors import DataError, ParseError
from storyproof.example import Example
from storyproof.families.kinship.answer_language import TALK
from storyproof.families.kinship.baselines import read_rows
from storyproof.families.kinship.checker import CONTRADICTED, ENTAILED, IMPOSSIBLE, status
from storyproof.families.kinship.people import person_names
from storyproof.families.kinship.prove_labels import entailed_relation
from storyproof.families.kinship.relations import PREDICATES, WORDS, gender_of, predicate_of
from storyproof.families.kinship.row import KinshipRow
from storyproof.families.kinship.rules import STRICT
from storyproof.families.kinship.templates import ask, parse_question
from storyproof.language.chain_of_thought import (
    RIGHT,
    UNCLEAR,
    WRONG,
    ClauseGrammar,
    NameIndex,
    PlacedWord,
    Statement,
    StatementVerdict,
    ends_clause,
    lower_at,
    read_statements,
    skip_words,
)

_NEUTRAL = {
    "parent": "inv-child",
    "child": "child",
    "sibling": "sibling",
    "spouse": "SO",
    "grandparent": "inv-grand",
    "grandchild": "grand",
    "parent-in-law": "inv-in-law",
    "child-in-law": "in-law",
    "sibling-in-law": "sibling-in-law",
}
_CALLED = {called: word for word in ("mother", "father", "grandmother", "grandfather") for called in TALK.forms(word)}
_BOTH = {predicate.name: (predicate.male, predicate.female) for predicate in PREDICATES}
_MEANT: dict[str, tuple[str, ...]] = {
    **{word: (word,) for word in WORDS},
    **{word: _BOTH[name] for word, name in _NEUTRAL.items()},
    **{called: (word,) for called, word in _CALLED.items() if not called.endswith("s") and called not in WORDS},
}
_MUTUAL = {  # what two people are to each other, each as a word for one of them
    "siblings": "sibling",
    "brothers": "brother",
    "sisters": "sister",
    "spouses": "spouse",
    "married": "spouse",
    "siblings-in-law": "sibling-in-law",
}
_RELATIONS, _MUTUALS = NameIndex(_MEANT), NameIndex(_MUTUAL)
_LINKS = tuple(
    tuple(link.split())
    for link in ("must be", "has to be", "would be", "will be", "is", "are", "was", "were", "becomes", "=")
)
_MANNER = frozenset(
    (
        "therefore",
        "thus",
        "hence",
        "also",
        "indeed",
        "actually",
        "really",
        "clearly",
        "then",
        "in",
        "fact",
        "now",
        "both",
    )
)
_KINDS = frozenset(
    ("own", "older", "younger", "elder", "maternal", "paternal", "biological", "dear", "beloved", "late")
)
_ARTICLES = frozenset(("the", "a", "an"))


class _KinGrammar(ClauseGrammar):
    """What somebody is to somebody."""

    is_timeless = True

    def __init__(self, people: Sequence[str]) -> None:
        self._people = NameIndex(people, is_proper=True)

    def parse(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read a statement that begins with a person, with somebody's relative, or with a relation."""
        return (
            self._parse_owner_first(tokens, start)
            or self._parse_relation_first(tokens, start)
            or self._parse_having(tokens, start)
            or self._parse_subject_first(tokens, start)
        )

    def _parse_subject_first(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read "Ada is Ben's aunt", "Ada is the aunt of Ben", "Ada and Ben are siblings", "Ada is married to Ben"."""
        subjects = self._people.match_list(tokens, start)
        link = _parse_link(tokens, subjects[1]) if subjects is not None else None
        if subjects is None or link is None:
            return None
        place, denied = link
        who = subjects[0]
        if len(who) == 2:
            mutual = _MUTUALS.match(tokens, place)
            if mutual is None:
                return None
            word = _MUTUAL[mutual[0]]
            pairs = [(who[0], who[1]), (who[1], who[0])]
            if len(_MEANT[word]) > 1:  # neither word says anything about a gender, so one says what the other says
                del pairs[1]
            return _statements(pairs, _MEANT[word], denied, tokens, start, mutual[1], word)
        if len(who) > 2:
            return None
        if lower_at(tokens, place) == "married" and lower_at(tokens, place + 1) == "to":
            owner = self._people.match(tokens, place + 2)
            return owner and _statements([(who[0], owner[0])], _BOTH["SO"], denied, tokens, start, owner[1], "spouse")
        owner = self._people.match(tokens, place)
        if owner is not None:
            relation = _parse_owned(tokens, owner[1])
            if relation is None:
                return None
            return _statements(
                [(who[0], owner[0])], _MEANT[relation[0]], denied, tokens, start, relation[1], relation[0]
            )
        owned = self._parse_of(tokens, place)
        if owned is None:
            return None
        word, owners, end = owned
        return _statements([(who[0], each) for each in owners], _MEANT[word], denied, tokens, start, end, word)

    def _parse_owner_first(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read "Ben's aunt is Ada"."""
        owner = self._people.match(tokens, start)
        relation = _parse_owned(tokens, owner[1]) if owner is not None else None
        if owner is None or relation is None:
            return None
        return self._parse_identity(tokens, start, relation[1], relation[0], owner[0])

    def _parse_relation_first(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read "the aunt of Ben is Ada"."""
        if lower_at(tokens, start) not in _ARTICLES:
            return None
        relation = _RELATIONS.match(tokens, skip_words(tokens, start + 1, _KINDS))
        if relation is None or lower_at(tokens, relation[1]) != "of":
            return None
        owner = self._people.match(tokens, relation[1] + 1)
        return owner and self._parse_identity(tokens, start, owner[1], relation[0], owner[0])

    def _parse_identity(
        self, tokens: Sequence[PlacedWord], start: int, place: int, relation: str, owner: str
    ) -> tuple[list[Statement], int] | None:
        link = _parse_link(tokens, place)
        who = self._people.match(tokens, link[0]) if link is not None else None
        if link is None or who is None or lower_at(tokens, who[1]) == "'s":
            return None
        return _statements([(who[0], owner)], _MEANT[relation], link[1], tokens, start, who[1], relation)

    def _parse_having(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read "Ben has an aunt named Ada"."""
        owner = self._people.match(tokens, start)
        if owner is None or lower_at(tokens, owner[1]) != "has" or lower_at(tokens, owner[1] + 1) not in ("a", "an"):
            return None
        relation = _RELATIONS.match(tokens, skip_words(tokens, owner[1] + 2, _KINDS))
        if relation is None:
            return None
        place = relation[1] + (lower_at(tokens, relation[1]) == ",")
        who = self._people.match(tokens, place + (lower_at(tokens, place) in ("named", "called")))
        return who and _statements([(who[0], owner[0])], _MEANT[relation[0]], False, tokens, start, who[1], relation[0])

    def _parse_of(self, tokens: Sequence[PlacedWord], place: int) -> tuple[str, list[str], int] | None:
        """Read "the aunt of Ben and Cleo"."""
        if lower_at(tokens, place) not in _ARTICLES:
            return None
        relation = _RELATIONS.match(tokens, skip_words(tokens, place + 1, _KINDS))
        if relation is None or lower_at(tokens, relation[1]) not in ("of", "to"):
            return None
        owners = self._people.match_list(tokens, relation[1] + 1)
        if owners is not None and ends_clause(tokens, owners[1]):
            return relation[0], owners[0], owners[1]
        owner = self._people.match(tokens, relation[1] + 1)  # what follows "and" may be another clause
        return (relation[0], [owner[0]], owner[1]) if owner is not None else None


def _parse_owned(tokens: Sequence[PlacedWord], place: int) -> tuple[str, int] | None:
    """Read "'s aunt" after a name."""
    if lower_at(tokens, place) == "'" and lower_at(tokens, place + 1):
        place += 1  # James' aunt
    elif lower_at(tokens, place) == "'s":
        place += 1
    else:
        return None
    return _RELATIONS.match(tokens, skip_words(tokens, place, _KINDS))


def _parse_link(tokens: Sequence[PlacedWord], place: int) -> tuple[int, bool] | None:
    """Read "is", "must be" and so on with "not"; return the number of the token after it, and whether it denies."""
    place = skip_words(tokens, place, _MANNER)
    for link in _LINKS:
        after = _match_phrase(tokens, place, link)
        if after is not None:
            denied = lower_at(tokens, after) == "not"
            return skip_words(tokens, after + denied, _MANNER), denied
    return None


def _match_phrase(tokens: Sequence[PlacedWord], place: int, words: Sequence[str]) -> int | None:
    """Return the number of the token after some words that may have others between them: "must therefore be"."""
    for word in words:
        if lower_at(tokens, place) != word:
            return None
        place = skip_words(tokens, place + 1, _MANNER)
    return place


def _statements(
    pairs: Sequence[tuple[str, str]],
    meant: Sequence[str],
    denied: bool,
    tokens: Sequence[PlacedWord],
    start: int,
    end: int,
    word: str,
) -> tuple[list[Statement], int] | None:
    statements = []
    for who, owner in pairs:
        if who == owner:
            return None
        said = f"{who} is{' not' if denied else ''} {owner}'s {word}"
        span = tokens[start].start, tokens[end - 1].end
        statements.append(Statement(ask(owner, who), tuple(meant), said, "", *span, denied))
    return statements, end


def find_statements(text: str, example: Example) -> list[Statement]:
    """Return what a text says about who is what to whom."""
    people = person_names(example.get("genders"))
    return read_statements(text, _KinGrammar(people), example.story.split("\n")) if people else []


def check_statement(statement: Statement, example: Example) -> StatementVerdict:
    """Compare a statement with all families that fit the story."""
    if example.readings and STRICT not in example.readings:
        return StatementVerdict(UNCLEAR, reason="the answer of this row holds under other rules than strict kinship.")
    try:
        first, second = parse_question(statement.question)
        rows = read_rows(
            replace(example, question=statement.question, extra={**example.extra, "query": [first, second]})
        )
    except (ParseError, DataError, LookupError) as error:
        return StatementVerdict(UNCLEAR, reason=str(error))
    verdicts = {_judge(row, statement.answers) for row in rows}
    if len({each.kind for each in verdicts}) > 1:
        return StatementVerdict(UNCLEAR, reason="it depends on a gender that the story does not show.")
    verdict = next(iter(verdicts)) if len(verdicts) == 1 else StatementVerdict(next(iter(verdicts)).kind)
    if verdict.kind == UNCLEAR or not statement.is_denied:
        return verdict
    return verdict._replace(kind=WRONG if verdict.kind == RIGHT else RIGHT)


def _judge(row: KinshipRow, answers: Sequence[str]) -> StatementVerdict:
    gender = row.genders[row.pair[1]]
    fitting = [word for word in answers if gender_of(word) == gender]
    kinds = {status(row.genders, row.facts, row.asking(predicate_of(word))) for word in fitting}
    if IMPOSSIBLE in kinds:
        return StatementVerdict(UNCLEAR, reason="no family fits the story.")
    relation = entailed_relation(row)
    holds = "" if relation is None else row.word(row.asking(relation))
    if ENTAILED in kinds:
        return StatementVerdict(RIGHT, holds)
    if kinds <= {CONTRADICTED}:
        reason = "" if fitting else f"{row.names[row.pair[1]]} is {gender}."
        return StatementVerdict(WRONG, holds, reason)
    return StatementVerdict(UNCLEAR, holds, "it is possible, but does not follow.")
