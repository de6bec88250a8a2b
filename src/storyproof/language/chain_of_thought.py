"""What a chain of thought states: sentences, clauses, and which of them are claims.

A family gives a grammar of its own statements (`ClauseGrammar`); this module decides where one may stand. It stands
below the families, as `answer_language` does. Reading is conservative: a sentence that asks, supposes, reports or
quotes states nothing, and neither does a clause that depends on something which is not understood. What is left out
costs a step of a chain of thought its credit; what is misread would punish a right one.

Every step takes time linear in the length of the text: tokens are read once, and a grammar looks at most
`MOST_AHEAD` tokens ahead.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

MOST_AHEAD = 64  # tokens of a statement
_NAMES_IN_ROW = 6  # names that share a verb or a relation

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[^\w\s]")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_MARKUP = re.compile(r"[*`#>|]+|</?\w{1,20}>")
_QUOTE_SIGN = re.compile(r"[\"“”«»\n]|(?<![\w'’])['‘](?=\w)|(?<=[\w.!?,])['’](?!\w)")
_CLOSES = {'"': '"', "“": "”", "«": "»", "'": "'’", "‘": "'’"}
_QUOTED = '"'  # stands for a quotation, whose words are not read
# What numbers a line: "3.", "- ", "Step 3:"; with it, a repeated sentence is still a repeated sentence.
_LABEL = re.compile(r"[\W_]*(?:(?:step|sentence|line|event|fact)\b\s*)?(?:\d+[\W_]+)?[\W_]*", re.IGNORECASE)
_NEGATED = re.compile(r"(.+)n['’]t", re.IGNORECASE)
_OWNED = re.compile(r"(.+)['’]s", re.IGNORECASE)

NEGATIONS = frozenset(("not", "never", "no", "cannot", "neither", "nor", "nobody", "none", "without", "hardly"))
# A sentence with one of these claims nothing, or nothing that can be told apart from what is supposed or reported.
_UNCLAIMED = frozenset(
    (
        *(
            "if",
            "unless",
            "suppose",
            "supposing",
            "supposedly",
            "assume",
            "assuming",
            "imagine",
            "imagines",
            "imagining",
        ),
        *("pretend", "pretends", "whether", "maybe", "perhaps", "possibly", "probably", "likely", "presumably"),
        *("apparently", "seems", "seem", "appears", "might", "may", "could", "or", "either", "otherwise", "lest"),
        *("hypothetically", "hypothetical", "theoretically", "example", "alternatively", "versus", "vs"),
        *("says", "said", "say", "saying", "claims", "claimed", "claim", "tells", "told", "asks", "asked", "ask"),
        *("tell", "telling", "announces", "announced", "announce", "whispers", "whispered", "whisper", "informs"),
        *("informed", "mentions", "mentioned", "hears", "heard", "message", "messages", "announcement", "lie"),
        *("asking", "lies", "lied", "lying", "wonders", "wonder", "suspects", "suspect", "hopes", "wants", "wishes"),
        *("guess", "guesses", "dreams", "fears", "doubts", "doubt", "denies", "deny", "forgets", "remembers"),
        *("wrong", "incorrect", "untrue", "mistaken", "mistake", "contradiction", "contradicts", "impossible"),
        *("according", "perspective", "perspectives", "viewpoint", "view", "mind", "eyes", "opinion", "head"),
        *("option", "options", "statement", "someone", "somebody", "anyone", "whoever", "everyone", "everybody"),
    )
)
# After these a clause stands on its own, whatever was denied or thought before.
_HARD = frozenset((";", ":", "so", "therefore", "thus", "hence", "consequently", "but", "however", "means", "meaning"))
_SOFT = frozenset(
    (",", "and", "because", "since", "as", "although", "though", "whereas", "which", "(", ")", "-", "–", "—")
)
_FRONTED = frozenset(("because", "since", "as", "although", "though", "given", "considering"))
_CONFINING = frozenset(  # at the beginning of a clause: it holds somewhere, at some time or for somebody only
    (
        *("for", "to", "from", "in", "with", "by", "under", "at", "on", "of", "about", "within", "inside", "like"),
        *("when", "whenever", "before", "after", "while", "until", "till", "once", "during", "had", "were", "should"),
    )
)
_TIMES = frozenset(  # the same, but only where what holds may change
    ("initially", "originally", "first", "firstly", "earlier", "previously", "formerly", "then", "next", "later")
)
_MARKERS = frozenset(
    (
        *(
            "that",
            "so",
            "therefore",
            "thus",
            "hence",
            "consequently",
            "and",
            "but",
            "however",
            "now",
            "finally",
            "also",
        ),
        *(
            "clearly",
            "obviously",
            "indeed",
            "similarly",
            "likewise",
            "overall",
            "again",
            "meanwhile",
            "because",
            "since",
        ),
        *("as", "although", "though", "whereas", "this", "which", "means", "meaning", "given", "considering", "ok"),
        *("okay", "yes", "well", "actually", "really", "secondly", "thirdly", "lastly", "currently"),
    )
)
_PHRASES = tuple(
    tuple(phrase.split())
    for phrase in (
        *("in reality", "in fact", "in the end", "in conclusion", "in other words", "in summary", "in short"),
        *("at the end", "at the end of the story", "as a result", "to summarize", "to sum up", "to conclude"),
        *(
            "we know",
            "i know",
            "we see",
            "we can see",
            "we conclude",
            "i conclude",
            "we can conclude",
            "i can conclude",
        ),
        *("we infer", "we can infer", "it follows", "it is clear", "it is known", "it can be concluded", "from this"),
        *("from the above", "in this story", "in the story", "of course", "on the other hand", "for that reason"),
    )
)
_PHRASES_BY_WORD = {word: [each for each in _PHRASES if each[0] == word] for word, *_ in _PHRASES}
# What may follow a statement; anything else may change what it says.
_FOLLOWS = frozenset(
    (
        *(
            ",",
            ";",
            ":",
            ")",
            "-",
            "–",
            "—",
            "because",
            "since",
            "as",
            "and",
            "but",
            "so",
            "therefore",
            "thus",
            "hence",
        ),
        *("although", "though", "even", "whereas", "not", "instead", "too", "also", "which", "who", "rather"),
    )
)
_UNDOES = frozenset(
    ("until", "before", "when", "while", "after", "once", "only", "at", "during", "till", "by", "through")
)
_RETRACTS = re.compile(
    r"\b(?:wait\b|hold on\b|scratch that\b|correction\b|on second thoughts?\b|no,|actually,? no\b|"
    r"let me (?:re-?(?:think|check|consider|read|do|start|evaluate)|correct|fix|try again|start over)\b|"
    r"i (?:was|am) (?:wrong|mistaken)\b|i made an? (?:mistake|error)\b|"
    r"(?:that|this)(?:['’]s| is| was) (?:wrong|incorrect|not (?:right|correct|true))\b|"
    r"(?:that|this) (?:can['’]t|cannot) be (?:right|correct|true)\b)",
    re.IGNORECASE,
)


class Statement(NamedTuple):
    """Something that a text states about a story.

    Attributes:
        question: The question to which it gives an answer, in a form that the family of the story reads.
        answers: What it says: one of these, such as brother or sister for "sibling".
        stated: What it says, in the words of the family.
        sentence: The sentence in which it stands.
        start: Where the statement begins in the text.
        end: Where it ends.
        is_denied: Whether it says that none of these answers holds.
        is_final: Whether it speaks of the end of the story; if not, it may be about an earlier moment.
    """

    question: str
    answers: tuple[str, ...]
    stated: str
    sentence: str = ""
    start: int = 0
    end: int = 0
    is_denied: bool = False
    is_final: bool = True


RIGHT, WRONG, UNCLEAR = ("right", "wrong", "unclear")


class StatementVerdict(NamedTuple):
    """What a prover says about a statement.

    Attributes:
        kind: `right` if it is proved, `wrong` if its opposite is, else `unclear`.
        holds: The proved answer to its question; empty if none follows.
        reason: Why it is unclear, or what holds instead of it.
    """

    kind: str
    holds: str = ""
    reason: str = ""


class PlacedWord(NamedTuple):
    """A word or a sign: as it was written, in lower case, and where."""

    text: str
    lower: str
    start: int
    end: int


class ClauseGrammar(ABC):
    """What the statements of a family look like.

    Attributes:
        embeds: Words that make what follows them a thought or a wish; a clause with one that is not a statement itself
            keeps those after it from being read.
        is_timeless: Whether what holds at one moment of a story holds at all.
    """

    embeds: Collection[str] = frozenset()
    is_timeless: bool = False

    @abstractmethod
    def parse(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[Statement], int] | None:
        """Read the statements that begin at a token.

        Returns:
            Question, answers and denial of each, and the number of the token after them; None if there is no statement.
        """


class NameIndex:
    """Names of one role, by their first words, so that the longest one at a token is found at once.

    Spaces, underscores and hyphens in names are equal: `treasure_chest` is found in "the treasure chest".

    Args:
        names: The names.
        is_proper: Whether their first letters must be written as given: "Will" is a name, "will" is not.
    """

    def __init__(self, names: Iterable[str], *, is_proper: bool = False) -> None:
        self._proper = is_proper
        self._found: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for name in dict.fromkeys(names):
            parts = tuple(self._form(token) for token in tokenize(name))
            if parts:
                self._found.setdefault(parts[0], []).append((parts, name))
        for forms in self._found.values():
            forms.sort(key=lambda form: -len(form[0]))

    def __len__(self) -> int:
        return sum(map(len, self._found.values()))

    def _form(self, token: PlacedWord) -> str:
        return token.text if self._proper else token.lower

    def match(self, tokens: Sequence[PlacedWord], start: int) -> tuple[str, int] | None:
        """Return the name that stands at a token, and the number of the token after it; None if there is none."""
        if start >= len(tokens):
            return None
        for parts, name in self._found.get(self._form(tokens[start]), ()):
            end = start + len(parts)
            if tuple(self._form(token) for token in tokens[start:end]) == parts:
                return name, end
        return None

    def match_list(self, tokens: Sequence[PlacedWord], start: int) -> tuple[list[str], int] | None:
        """Return several names in a row, as in "Ada, Ben and Cleo", and the number of the token after them."""
        names: list[str] = []
        place = start
        while len(names) < _NAMES_IN_ROW:
            match = self.match(tokens, place)
            if match is None:
                return None
            names.append(match[0])
            place = match[1]
            after = place
            if lower_at(tokens, after) == ",":
                after += 1
            if lower_at(tokens, after) == "and":
                last = self.match(tokens, after + 1)
                if last is None:
                    return names, place
                return [*names, last[0]], last[1]
            if after == place or self.match(tokens, after) is None:
                return names, place
            place = after
        return None


def lower_at(tokens: Sequence[PlacedWord], place: int) -> str:
    """Return a token in lower case; empty beyond the last."""
    return tokens[place].lower if place < len(tokens) else ""


def skip_words(tokens: Sequence[PlacedWord], place: int, words: Collection[str]) -> int:
    """Return the number of the first token from a place on that is none of some words."""
    while place < len(tokens) and tokens[place].lower in words:
        place += 1
    return place


def tokenize(text: str, offset: int = 0) -> list[PlacedWord]:
    """Return the words and signs of a text; "doesn't" is "does" and "not", and "Ada's" is "Ada" and "'s"."""
    words: list[PlacedWord] = []
    for match in _TOKEN.finditer(text):
        word, start, end = match[0], match.start() + offset, match.end() + offset
        if "'" not in word and "’" not in word:
            if word not in "-_" or len(word) > 1:
                words.append(PlacedWord(word, word.lower(), start, end))
            elif not _joins(text, match.start()):
                words.append(PlacedWord(word, word, start, end))
            continue
        negated, owned = _NEGATED.fullmatch(word), _OWNED.fullmatch(word)
        if negated is not None:
            stem = {"wo": "will", "ca": "can"}.get(negated[1].lower(), negated[1])
            words += [PlacedWord(stem, stem.lower(), start, start), PlacedWord("not", "not", start, end)]
        elif owned is not None:
            words += [PlacedWord(owned[1], owned[1].lower(), start, end - 2), PlacedWord("'s", "'s", end - 2, end)]
        elif word[-3:].lower() in ("'ll", "’ll"):
            words += [
                PlacedWord(word[:-3], word[:-3].lower(), start, end - 3),
                PlacedWord("will", "will", end - 3, end),
            ]
        else:
            words.append(PlacedWord(word, word.lower(), start, end))
    return words


def _joins(text: str, place: int) -> bool:
    """Return whether a hyphen stands between the parts of one word."""
    return 0 < place < len(text) - 1 and text[place - 1].isalnum() and text[place + 1].isalnum()


def fold(sentence: str) -> str:
    """Return a sentence such that spelling, spaces and the last full stop make no difference."""
    return " ".join(token.lower for token in tokenize(sentence)).rstrip(" .!,;:")


def read_statements(text: str, grammar: ClauseGrammar, quotable: Collection[str] = ()) -> list[Statement]:
    """Return what a text states, in its order.

    Args:
        text: A chain of thought, or any reply.
        grammar: The statements of a family.
        quotable: The sentences of the story; repeating one is a quotation.
    """
    story = {fold(sentence) for sentence in quotable}
    statements: list[Statement] = []
    for sentence, start in _sentences(_blank(text)):
        if sentence.rstrip(" \t\"'”’)*_").endswith("?") or fold(_LABEL.sub("", sentence, count=1)) in story:
            continue
        tokens = tokenize(sentence, start)
        if not _is_claim(tokens):
            continue
        said = " ".join(text[start : start + len(sentence)].split())
        statements += [each._replace(sentence=said) for each in _read_sentence(tokens, grammar)]
    return statements


def find_retractions(text: str) -> list[int]:
    """Return where a text takes something back, such as "Wait, no"."""
    return [match.start() for match in _RETRACTS.finditer(text)]


def _blank(text: str) -> str:
    """Return a text of the same length without markup, and with spaces in the place of what is quoted."""
    plain = _MARKUP.sub(lambda match: " " * len(match[0]), text)
    parts: list[str] = []
    done, opened = 0, -1
    for match in _QUOTE_SIGN.finditer(plain):
        sign, place = match[0], match.start()
        if opened < 0:
            if sign in _CLOSES:
                opened = place
        elif sign == "\n" or sign in _CLOSES[plain[opened]]:  # a quotation that is not closed ends with its line
            parts += [plain[done:opened], _QUOTED, " " * (place - opened - 1)]
            done, opened = place, -1
            if sign != "\n":
                parts.append(_QUOTED)
                done += 1
    if opened >= 0:
        parts += [plain[done:opened], _QUOTED, " " * (len(plain) - opened - 1)]
        done = len(plain)
    return "".join([*parts, plain[done:]])


def _sentences(text: str) -> Iterator[tuple[str, int]]:
    for match in _SENTENCE.finditer(text):
        if match[0].strip():
            yield match[0], match.start()


def _is_claim(tokens: Sequence[PlacedWord]) -> bool:
    """Return whether a sentence claims what it says."""
    for place, token in enumerate(tokens):
        if (
            token.text == _QUOTED or token.text in _UNCLAIMED or (place == 0 and token.lower in _UNCLAIMED)
        ):  # "May" is a name, "may" is not
            return False
        if token.lower in ("false", "true") and not lower_at(tokens, place + 1).startswith("belief"):
            return False
        if token.lower == "have" and place and tokens[place - 1].lower in ("would", "should"):
            return False
        if token.text == "Had" and place == 0:
            return False
    return True


def _read_sentence(tokens: Sequence[PlacedWord], grammar: ClauseGrammar) -> Iterator[Statement]:
    """Yield the statements of a sentence: those that begin a clause which depends on nothing."""
    place, blocked, begins = 0, False, True
    markers = _MARKERS | _TIMES if grammar.is_timeless else _MARKERS
    fronted = lower_at(tokens, _skip_markers(tokens, 0, ())) in _FRONTED
    if fronted and _is_view(tokens, grammar):
        return
    while place < len(tokens):
        if begins:
            begins = False
            first, place = place, _skip_markers(tokens, place, markers)
            if place == len(tokens):  # nothing but a phrase such as "in conclusion"
                return
            blocked = blocked and not any(token.lower in _HARD for token in tokens[first:place])
            if not blocked:
                parsed = grammar.parse(tokens, place)
                if parsed is not None and ends_clause(tokens, parsed[1]):
                    yield from parsed[0]
                    place = parsed[1]
                    continue
            blocked = blocked or tokens[place].lower in _CONFINING or tokens[place].lower in _TIMES
        word = tokens[place].lower
        if word in _HARD or (fronted and word == ","):
            begins, blocked = True, False
            fronted = fronted and word != ","
        elif word in _SOFT:
            begins = True
        elif word in NEGATIONS or word in grammar.embeds:
            blocked = True
        place += 1


def _is_view(tokens: Sequence[PlacedWord], grammar: ClauseGrammar) -> bool:
    """Return whether a sentence begins with whose view it gives: "as far as Anne knows,", "as Anne sees it,"."""
    start = _skip_markers(tokens, 0, ())
    if lower_at(tokens, start) != "as":
        return False
    comma = next((place for place in range(start, len(tokens)) if tokens[place].lower == ","), len(tokens))
    before, last = (tokens[max(place, 0)].lower for place in (comma - 2, comma - 1))
    is_seen = last == "it" and before in ("sees", "saw")
    return lower_at(tokens, start + 1) in ("far", "for") or last in grammar.embeds or last == "concerned" or is_seen


def ends_clause(tokens: Sequence[PlacedWord], end: int) -> bool:
    """Return whether what stands at a token ends a statement before it without changing it."""
    after = lower_at(tokens, end)
    if after == "," and lower_at(tokens, end + 1) in _UNDOES:
        return False
    if (
        after == ","
        and lower_at(tokens, end + 1) == "which"
        and lower_at(tokens, end + 2) in ("cannot", "can", "could")
    ):
        return False  # "…, which cannot be"
    return after in ("", ".", "!") or after in _FOLLOWS


def _skip_markers(tokens: Sequence[PlacedWord], place: int, markers: Collection[str]) -> int:
    """Return the number of the first token that is neither a marker nor a number or sign of a list."""
    while place < len(tokens) - 1:
        word = tokens[place].lower
        phrase = next((each for each in _PHRASES_BY_WORD.get(word, ()) if _begins(tokens, place, each)), None)
        if phrase is not None and markers:
            place += len(phrase)
        elif word in markers or word.isdigit() or not word[0].isalnum():
            place += 1
        else:
            break
    return place


def _begins(tokens: Sequence[PlacedWord], place: int, phrase: Sequence[str]) -> bool:
    return all(lower_at(tokens, place + number) == word for number, word in enumerate(phrase))
