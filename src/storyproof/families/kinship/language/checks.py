"""What makes a story doubtful that is clear sentence by sentence.

Patterns on the classes of the whole text find ages, words that take back what was said before, facts without a kin
word, and plays and dreams. Other checks compare sentences: nobody may be in two places or do two things at a time, no
sentence may occur twice, and two facts of a sentence must not suggest step- or half-kin.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import Enum
from itertools import permutations

from storyproof.families.kinship.language import lexicon as lx
from storyproof.families.kinship.language.consistency import SUGGESTIVE, SUGGESTIVE_OF_ONE
from storyproof.families.kinship.language.grammar import Meaning
from storyproof.families.kinship.language.lexicon import KinWord
from storyproof.families.kinship.language.reading import ReadFact
from storyproof.families.kinship.relations import inverse


class Where(Enum):
    """What the place of a doubt counts."""

    SKELETON = "reduced classes"
    CLASSES = "classes"
    TEXT = "characters"


class Doubt(Exception):  # noqa: N818  # not an error of the program: the verdict on a story
    """A story is not understood: why, and the place."""

    def __init__(self, reason: str, place: int, where: Where = Where.SKELETON) -> None:
        super().__init__(reason)
        self.reason, self.place, self.where = reason, place, where


_W = r"[w=$>*/M@O94+8\[\]^`pqfV]"  # any word that is not in the way
_ELDER = r"\[[M@O\[]*[KL]"
_AGES = (
    rf"[NWes][iv]n(?!{_W}|o)",  # Omar is nine.
    rf"[iva]{_W}?n[.,;\n]",  # Omar and Freya are both fifty.
    rf"6n[.,;p<)9\n]|6n{_W}?(?:[.\n]|$)",  # Lin turned four last week.
    r"n[w$]@|@N",  # nine years old; old Omar
    rf"{_ELDER}[\s\S]*{_ELDER}",  # an elder brother, and another
)
_RETRACTIONS = (
    rf"(?:^|[.\n;:,&b])[5TD]{_W}?[ivX]B?z?{_W}?[dD]?{_W}{{0,2}}[esN]?[73RE]",  # That was only a game.
    rf"[5TD]{_W}?[iv]w?\^[.;\n]",  # The following is invented.
    rf"z[wdDBo]{{0,2}}7|[iva]{_W}?7[.;,\n]",  # not quite true; is unclear.
    r"(?:^|[.\n])[^N.\n]*D7[.\n]",  # Everyone laughed at the lie.
    r"(?:^|[.\n])[w3789z4]{1,2}(?:[.\n]|$)",  # Wrong. Fake news.
    r"\][^.\n]{0,4}7|\]f[.\n]",  # Nothing of this is true. Nobody knows.
    r"(?:^|[.\n])Q[^.\n]*[37RE]",  # So the legend goes.
)
_ELLIPSES = (
    r"[Nes][iaxv]`[,;.\n]|N,?`(?:[.;\n]|$)|(?:^|[.\n])`,?N",  # Anna is too. Anna, too. Likewise Anna.
    r"Qi[Nhr]|AiN|(?:^|[.\n;&])NA\w(?:[.;\n]|$)",  # So is Anna. Anna as well.
    r"fAN",  # known as Anna
)
_REPORTS = (
    r"Rw?[5Q]|[RE]Q|Q[esNy]?[RE]",  # believed it; said so
    r"W[xX]z",  # who has never learnt to read
)
_FICTION = (
    rf"(?:^|[.\n])<[dDhr]{_W}{{0,2}}[3R][^.\n]*[KL]",  # In the school play …
    rf"[KL][^.\n]*<[dDhr]{_W}{{0,2}}3(?!o)",  # … in the novel
    r"[37]o(?:N'|[hr])[M@O\[]*K",  # the part of his niece
)
# Which classes must occur for any of the patterns, the patterns, and the reason.
_PATTERNS = tuple(
    (re.compile(f"[{re.escape(needed)}]"), re.compile("|".join(patterns)), reason)
    for needed, patterns, reason in (
        ("n[@", _AGES, "ages are not understood"),
        ("73RE^]", _RETRACTIONS, "this may take back what was said before"),
        ("`QA", _ELLIPSES, "this states a relation without a kin word"),
        ("REz", _REPORTS, "what somebody says or believes need not be true"),
        ("37R", _FICTION, "a play or a dream need not be true"),
    )
)
STORY_ABOUT = r"(?:story|tale|film|movie|novel|play|book) about (?:his|her|[A-Z@])"
_STORY_ABOUT = re.compile(STORY_ABOUT)
_LASTING = re.compile(r"[48+]|[xX]z|\*D?\$|D\*\$|/2/")  # at the same time, asleep, always, has never, all day
_PLACED = re.compile("N,?[iv]z?[p<]")  # is in the cellar
_CLOCK = re.compile("p/")  # at noon
_AT = re.compile(r"(?:^|[.!\n] ?)At (noon|midnight|midday|dawn|dusk|sunrise|sunset|daybreak)\b")
_PROPER = re.compile(lx.PROPER)
_SENTENCE = re.compile(r"[^\s.!][^.!\n]*(?:[.!](?=[^\s.!])[^.!\n]*)*")
_SENTENCE_END = re.compile(r"[.\n]")
_LOOKAHEAD = re.compile(r"\(\?[!=][^()]*\)")


def _suspect() -> str:
    """Return a pattern for classes that `check_patterns` or `check_clashes` may refuse, as simple as RE2 needs it.

    Stories in the story are left out, since they have a pattern on the text.
    """
    found = [pattern.pattern for _, pattern, _ in _PATTERNS] + [_PLACED.pattern, r"P[\s\S]*P", r"/[\s\S]*/"]
    found += [rf"N[^.\n]*(?:{_LASTING.pattern})", rf"(?:{_LASTING.pattern})[^.\n]*N"]
    return "|".join(_LOOKAHEAD.sub("", each) for each in found)


SUSPECT = _suspect()


def check_patterns(text: str, kinds: str) -> None:
    """Check a whole story by its classes.

    Raises:
        Doubt: If it may say that what it states is not so, or states something in other ways.
    """
    for needed, pattern, reason in _PATTERNS:
        if needed.search(kinds) and (match := pattern.search(kinds)):
            raise Doubt(reason, match.start(), Where.CLASSES)
    if lx.FICTION in kinds and _STORY_ABOUT.search(text):
        raise Doubt("a story in the story need not be true", kinds.index(lx.FICTION), Where.CLASSES)


def find_repeat(text: str) -> int | None:
    """Return where a sentence begins that occurred before."""
    seen: set[str] = set()
    for match in _SENTENCE.finditer(text):
        sentence = " ".join(match[0].split())
        if sentence in seen:
            return match.start()
        seen.add(sentence)
    return None


def says_when(text: str) -> bool:
    """Return whether a text says at which time of the day something happens, so that times can clash."""
    return _AT.search(text) is not None


def may_clash(kinds: str, *, timed: bool = True) -> bool:
    """Return whether somebody may be in two places or do two things at a time.

    Args:
        kinds: The classes of a text.
        timed: Whether it says when something happens.
    """
    if _PLACED.search(kinds) or kinds.count(lx.PROPER) > 1 or (timed and kinds.count(lx.CLOCK) > 1):
        return True
    return _LASTING.search(kinds) is not None and any(
        lx.NAME in part and _LASTING.search(part) for part in _SENTENCE_END.split(kinds)
    )


def check_clashes(text: str, kinds: str, sentences: Sequence[tuple[int, Meaning, list[str]]]) -> None:
    """Check that nobody is in two places or does two things at a time.

    Args:
        text: The story.
        kinds: Its classes.
        sentences: Where each sentence begins in the reduced classes, what it says, and its names.

    Raises:
        Doubt: If somebody may.
    """
    if not may_clash(kinds):
        return
    parts = [each for each in _SENTENCE_END.split(kinds) if each]
    everybody = [frozenset(names[each] for each in meaning.doing) for _, meaning, names in sentences]
    often = Counter(name for doing in everybody for name in doing)
    for number, (part, doing) in enumerate(zip(parts, everybody, strict=True)):
        lasting = _LASTING.search(part) or part.count(lx.PROPER) > 1
        twice = lx.ASLEEP in part and len(doing) < len(re.findall("N(?!')", part))
        if (lasting and any(often[name] > 1 for name in doing)) or twice:
            raise Doubt("one person would do two things at a time", sentences[number][0])
    twice_at = [match for match in _AT.finditer(text) if text.lower().count(f"at {match[1]}") > 1]
    for pattern in (_PLACED, _PROPER, *([_CLOCK] if twice_at else [])):
        seen: set[str] = set()
        for number, (part, doing) in enumerate(zip(parts, everybody, strict=True)):
            if pattern.search(part):
                if doing & seen:
                    raise Doubt("one person would be in two places at a time", sentences[number][0])
                seen |= doing


def check_words(meaning: Meaning, names: list[str], kins: list[KinWord], place: int) -> None:
    """Check what depends on the words of a sentence, not on its skeleton.

    Raises:
        Doubt: If a name may be a word, or a kin word does not fit its construction.
    """
    for each in meaning.bare:
        if names[each].removeprefix(lx.NAME_MARK) in lx.NAMES_LIKE_WORDS:
            raise Doubt(f"'{names[each]}' may be a word here", place)
    for each in meaning.definite:
        if kins[each].predicate == "inv-grand":
            raise Doubt(f"everybody has two: 'a {kins[each].word} of', not 'the'", place)
    for each in meaning.addressed:
        if kins[each].predicate not in ("inv-child", "inv-grand"):
            raise Doubt(f"people say '{kins[each].word}' to others too", place)
    for one, other in ((kins[first], kins[second]) for first, second in meaning.mutual):
        if one.word == "wife":
            raise Doubt("the words are 'husband and wife', the husband first", place)
        plural = one.plural or other.plural
        if one.predicate != inverse(other.predicate) or (plural and not (one == other and one.predicate == "sibling")):
            raise Doubt("these two words are not what two people are to each other", place)


def check_suggestions(facts: Sequence[ReadFact], place: int) -> None:
    """Check that the facts of one sentence do not suggest something else than follows from them.

    Raises:
        Doubt: If they may.
    """
    linked = {(fact.first, fact.second) for fact in facts} | {(fact.second, fact.first) for fact in facts}
    for one, other in permutations(facts, 2):
        if one[:3] == other[:3]:
            raise Doubt("a fact is stated twice in one sentence", place)
        pair = one.predicate, other.predicate
        chain = one.second == other.first and one.first != other.second and pair in SUGGESTIVE
        shared = one.first == other.first and one.second != other.second and pair in SUGGESTIVE_OF_ONE
        if (chain and (one.first, other.second) not in linked) or (shared and (one.second, other.second) not in linked):
            raise Doubt("in one sentence this suggests step- or half-kin; there is a nearer word", place)
