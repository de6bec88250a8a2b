"""Text back to events and questions, from the text alone.

Names and nouns, with whatever article or preposition belongs to their form, are replaced by a sign for what they are.
What is left, the skeleton of the sentence, must be that of one kind of sentence and no other; a pack in which two kinds
share one is refused. What a sentence leaves out is that of the sentence before: a pronoun is its subject, and the room
and the object that are not named are those that it is about.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import islice, product, takewhile
from typing import Any, NamedTuple

from storyproof.errors import ParseError, VocabularyError, quoted
from storyproof.families.belief.language.grammar import FEMALE, MALE, Forms
from storyproof.families.belief.language.pack import (
    AGENT,
    CONTAINER,
    HEARER,
    KEYS,
    PLAIN,
    QUESTIONS,
    ROOM,
    SENTENCES,
    THING,
    LanguagePack,
    Part,
    SentenceTemplate,
    Slot,
    question_variants,
    render,
    subjects,
    templates_of,
)
from storyproof.families.belief.questions import Ask, BeliefQuestion
from storyproof.families.belief.tomi_text import resolve_rooms
from storyproof.families.belief.world import NOTHING, EventKind, PlotEvent, PlotState

_FIRST_SIGN = 0xE000  # signs are characters for private use
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_ANY_WORD = r"[^\s.,?]+"
_SPACED = re.compile(r"[\w'’-]+")
_UNSPACED = re.compile(r"\w")
_KINDS = {AGENT: "a name", HEARER: "a name", ROOM: "a room", THING: "an object", CONTAINER: "a container"}
_SHOWN = 6  # continuations that an error lists
_MOST_CHAIN = 64
_QUESTION_MARKS = ("?", "？")
_PRONOUNS = "".join((MALE, FEMALE))


class _Phrase(NamedTuple):
    """A name or noun in the text: what it is, the word, and where it stands."""

    role: str
    word: str
    start: int
    end: int


class _Meaning(NamedTuple):
    """What a skeleton means.

    Attributes:
        key: The kind of sentence.
        roles: What each phrase of it is for; empty if for nothing.
        is_silent: Whether its subject is left out.
        left_out: The other role that it leaves to the sentence before; empty if there is none.
        genders: Those of a hearer whom it does not name.
    """

    key: str
    roles: tuple[str, ...]
    is_silent: bool = False
    left_out: str = ""
    genders: str = ""


class _Pronoun(str):
    """In place of a name, whom it can mean: the genders."""

    __slots__ = ()


_BEFORE = _Pronoun()  # in place of a room or an object: that of the sentence before
IN_ROOM = (EventKind.ENTER, EventKind.EXIT, EventKind.PLACE)  # after which a sentence need not name its room
OF_THING = (EventKind.PLACE, EventKind.MOVE, EventKind.FEEL)  # nor its object after these


class Phrase(NamedTuple):
    """What a text can name.

    Attributes:
        sign: The sign that stands for it in skeletons.
        role: What it is.
        word: The word of the pack.
        is_name: Whether it names somebody or something; pronouns do not.
    """

    sign: str
    role: str
    word: str
    is_name: bool


class SentenceClause(NamedTuple):
    """A sentence in words of the pack, as its skeleton says.

    Attributes:
        kind: What happens.
        is_lie: Whether it calls a message a lie.
        named: The role and word of each name, noun and pronoun, in order.
        roles: What each is for in the sentence; empty if for nothing.
        left_out: The roles that are left to the sentence before, with the genders that somebody can have.
        hour: The number of the time with which it begins, -1 if it does not.
    """

    kind: EventKind
    is_lie: bool
    named: list[tuple[str, str]]
    roles: tuple[str, ...]
    left_out: dict[str, str]
    hour: int


class QuestionClause(NamedTuple):
    """A question in words of the pack, as its skeleton says.

    Attributes:
        question: The question.
        named: The role and word of each name and noun, in order.
        roles: What each is for in the question.
    """

    question: BeliefQuestion
    named: list[tuple[str, str]]
    roles: tuple[str, ...]


class _Group(NamedTuple):
    """A word whose sentences have the skeletons of all words of its group."""

    forms: Forms
    is_name: bool = True
    is_silent: bool = False
    gender: str = ""


class _Scanner:
    """Finds names and nouns in text, and replaces them by signs."""

    def __init__(self, pack: LanguagePack) -> None:
        self.pack = pack
        self.naming = pack.grammar.naming
        self.roles: dict[str, str] = {}  # by sign
        self.collapsed: dict[int, str] = {}  # signs of agents without their gender
        self.phrases: dict[str, tuple[str, str, str]] = {}  # surface → sign, role, word
        self._signs: dict[tuple[object, ...], str] = {}
        self._words = _SPACED if pack.grammar.spaced else _UNSPACED
        self.groups: dict[str, list[_Group]] = {}
        for role in (AGENT, ROOM, THING, CONTAINER):
            groups: dict[frozenset[str], _Group] = {}
            for noun in pack.nouns[role]:
                group = _Group(noun.forms, gender=noun.gender)
                groups.setdefault(self._add(role, noun.word, noun.forms, noun.line), group)
            self.groups[role] = list(groups.values())
        self.groups[HEARER] = list(self.groups[AGENT])
        for number, forms in enumerate(subjects(pack)):
            if number < 2:
                self._add(AGENT, _Pronoun(_PRONOUNS[number]), forms, 1)
            if number < 2 or pack.grammar.is_silent:
                self.groups[AGENT].append(_Group(forms, is_name=False, is_silent=number > 1))
        self._starts = {self._words.match(surface)[0] for surface in self.phrases}  # type: ignore[index]
        self._longest = max(len(self._words.findall(surface)) for surface in self.phrases)

    def _add(self, role: str, word: str, forms: Forms, line: int) -> frozenset[str]:
        """Add the phrases of a word, and return their signs."""
        agrees = tuple(sorted((form, text) for form, text in forms.items() if form not in self.naming))
        by_surface: dict[str, list[str]] = {}
        for form in sorted(self.naming & forms.keys()):
            by_surface.setdefault(forms[form], []).append(form)
        signs = []
        for surface, names in by_surface.items():
            key = (role, isinstance(word, _Pronoun), agrees, tuple(names))
            sign = self._signs.setdefault(key, chr(_FIRST_SIGN + len(self._signs)))
            if surface in self.phrases and (self.phrases[surface][1:] != (role, word)):
                other = self.phrases[surface]
                raise VocabularyError(
                    f"{self.pack.path}, line {line}: {quoted(surface)} can be {role} {quoted(word)} and {other[1]} "
                    f"{quoted(other[2])}; choose another word for one of them."
                )
            self.phrases[surface] = sign, role, word
            self.roles[sign] = role
            if role == AGENT:
                plain = self._signs.setdefault((role, tuple(names)), chr(_FIRST_SIGN + len(self._signs)))
                self.collapsed[ord(sign)] = plain
                self.roles[plain] = role
            signs.append(sign)
        return frozenset(signs)

    def scan(self, text: str, *, initial: bool) -> tuple[str, list[_Phrase]]:
        """Return the skeleton of a text, and its names and nouns; an initial one may begin with a capital."""
        text = _PRIVATE.sub("\ufffd", text)
        phrases: list[_Phrase] = []
        pieces: list[str] = []
        last = 0
        spans = [match.span() for match in self._words.finditer(text)]
        lowered = text[:1].lower() + text[1:] if initial else text
        for place, (start, end) in enumerate(spans):
            if start < last:
                continue
            source = text if start or text[:end] in self._starts else lowered
            if source[start:end] not in self._starts:
                continue
            for _, stop in reversed(spans[place : place + self._longest]):
                hit = self.phrases.get(source[start:stop])
                if hit is None and start == 0 and source is text:
                    hit = self.phrases.get(lowered[:stop])
                if hit is not None:
                    sign, role, word = hit
                    pieces += [text[last:start], sign]
                    phrases.append(_Phrase(role, word, start, stop))
                    last = stop
                    break
        pieces.append(text[last:])
        return "".join(pieces), phrases


class StoryReader:
    """Reads stories and questions of one language, in any style."""

    def __init__(self, pack: LanguagePack) -> None:
        """Prepare all skeletons of a language.

        Raises:
            VocabularyError: If a sentence of the pack could mean two things.
        """
        self.pack = pack
        self._scanner = _Scanner(pack)
        self._meanings: tuple[dict[str, _Meaning], dict[str, _Meaning]] = ({}, {})  # alone, after a prefix
        for key in KEYS:
            for template in templates_of(pack, key):
                self._learn(key, template, self._meanings[0], initial=True)
                self._learn(key, template, self._meanings[1], initial=False)
        self._sorted: tuple[list[str], ...] = tuple(sorted(known) for known in self._meanings)
        prefixes = sorted((*pack.connectives, *pack.times), key=len, reverse=True)
        self._prefix = re.compile(f"({'|'.join(map(re.escape, prefixes))}){pack.space}")
        self._hour = {time: number for number, time in enumerate(pack.times)}
        self._questions: dict[int, dict[str, tuple[Ask, tuple[str, ...]]]] = {}
        self._open = list(_open_sentences(pack)) if pack.grammar.takes_any_word else []
        self._literals = {word for known in self._sorted for each in known for word in _SPACED.findall(each)}
        self._known = {role: {noun.word for noun in nouns} for role, nouns in pack.nouns.items()}
        self._open_patterns: dict[tuple[Ask, int], re.Pattern[str]] = {}
        self._gender = {noun.word: noun.gender for noun in pack.agents}
        self._read_clause = lru_cache(maxsize=1 << 16)(self._parse_clause)
        self._continuations = lru_cache(maxsize=1 << 12)(self._list_continuations)  # thousands of skeletons begin alike

    # Sentences.

    def _learn(self, key: str, template: SentenceTemplate, known: dict[str, _Meaning], *, initial: bool) -> None:
        """Add the skeletons of a template, with words of every group in its slots."""
        parts = template.alone if initial else template.after
        place = f"{self.pack.path}, line {template.line}"
        roles = list(dict.fromkeys(part.role for part in parts if isinstance(part, Slot)))
        groups = [self._scanner.groups[role] for role in roles]
        if key == "like":  # one may like a container too
            groups = [
                found + (self._scanner.groups[CONTAINER] if role == THING else [])
                for role, found in zip(roles, groups, strict=True)
            ]
        for chosen in product(*groups):
            words = {role: group.forms for role, group in zip(roles, chosen, strict=True)}
            is_silent = any(group.is_silent for group in chosen)
            text, spans = render(parts, words, self._scanner.naming, initial=initial)
            skeleton, phrases = self._scanner.scan(text, initial=initial)
            named = {(start, end): role for role, start, end in spans if end > start}
            used = tuple(named.pop((each.start, each.end), "") for each in phrases)
            hearers = [group.gender for role, group in zip(roles, chosen, strict=True) if role == template.left_out]
            genders = (hearers[0] if hearers else _PRONOUNS) if template.left_out == HEARER else ""
            meaning = _Meaning(key, used, is_silent, template.left_out, genders)
            other = known.get(skeleton)
            if other is not None and genders and genders not in other.genders:  # one word for men and women
                meaning = known[skeleton] = other._replace(genders=_PRONOUNS)
            if named:
                raise VocabularyError(f"{place}: in {quoted(text)} it is not clear what is named; reword it.")
            if known.setdefault(skeleton, meaning) != meaning:
                raise VocabularyError(
                    f"{place}: {quoted(text)} can mean '{key}' and '{known[skeleton].key}'; reword one."
                )

    def read(self, story: str | Sequence[str]) -> list[PlotEvent]:
        """Read a story with one sentence per line.

        Raises:
            ParseError: With the sentence and the character from which on it is not understood; or if a pronoun can
                mean several people or nobody, if times run backwards, or if nobody can tell where something happens.
        """
        sentences = story.split("\n") if isinstance(story, str) else story
        state = PlotState()
        before = NOTHING
        events: list[PlotEvent] = []
        time, clock = "", -1
        has_open_places = False
        for number, sentence in enumerate(sentences, start=1):
            match = self._prefix.match(sentence)
            start = match.end() if match else 0
            if match and match[1] in self._hour:
                if self._hour[match[1]] <= clock:
                    raise ParseError(f"sentence {number}: {quoted(match[1])} comes after {quoted(time)}.")
                time, clock = match[1], self._hour[match[1]]
            event = self._read_clause(sentence[start:], start > 0)
            if event is None:
                raise ParseError(f"sentence {number}, {self._explain(sentence, start)}")
            if any(type(each) is _Pronoun for each in event):
                event = self._resolve(event, before, number, sentence)
            if event.kind == EventKind.MOVE:
                room = state.where.get(str(event.agent)) or state.homes.get(str(event.container))
                if room is None and not has_open_places:
                    raise ParseError(f"sentence {number}: {event.agent} moves the {event.thing} but is in no room.")
                event = event._replace(room=room)
            has_open_places |= event.kind == EventKind.PLACE and event.room is None
            state.advance(event)
            before = event
            events.append(event)
        return _find_rooms(events) if has_open_places else events

    def knows(self, sentence: str) -> bool:
        """Return whether a text is a sentence or question of this language, for itself."""
        match = self._prefix.match(sentence)
        start = match.end() if match else 0
        if self._read_clause(sentence[start:], start > 0) is not None:
            return True
        return sentence.rstrip()[-1:] in _QUESTION_MARKS and self._find_question(sentence) is not None

    # For `block_reader`.

    def phrases(self) -> dict[str, Phrase]:
        """Return what texts can name, by how they name it."""
        return {
            surface: Phrase(*phrase, not _is_pronoun(phrase[2])) for surface, phrase in self._scanner.phrases.items()
        }

    def clause(self, sentence: str) -> SentenceClause | None:
        """Return what `read` finds in a sentence by its skeleton; None if it has no such skeleton."""
        match = self._prefix.match(sentence)
        start = match.end() if match else 0
        skeleton, phrases = self._scanner.scan(sentence[start:], initial=not start)
        meaning = self._meanings[start > 0].get(skeleton)
        if meaning is None:
            return None
        named = [(each.role, each.word) for each in phrases]
        left_out = {role: word for role, (_, word) in zip(meaning.roles, named, strict=True) if _is_pronoun(word)}
        left_out.pop("", None)  # such as "him", which only agrees
        if meaning.is_silent:
            left_out[AGENT] = _PRONOUNS
        if meaning.left_out:
            left_out[meaning.left_out] = meaning.genders
        event = _event(meaning.key, {})
        hour = self._hour.get(match[1], -1) if match else -1
        return SentenceClause(event.kind, event.lie, named, meaning.roles, left_out, hour)

    def question_clause(self, text: str) -> QuestionClause | None:
        """Return what `read_question` finds by the skeleton of a question; None if it has no such skeleton."""
        match = self._match_question(text)
        if match is None or any(_is_pronoun(phrase.word) for phrase in match[1]):
            return None
        (_, roles), phrases = match
        return QuestionClause(self.read_question(text), [(each.role, each.word) for each in phrases], roles)

    def _parse_clause(self, text: str, follows: bool) -> PlotEvent | None:
        """Read a sentence without its prefix; rooms of moves are left open, and pronouns stand for agents."""
        skeleton, phrases = self._scanner.scan(text, initial=not follows)
        meaning = self._meanings[follows].get(skeleton)
        if meaning is None:
            return self._parse_open(text) if not follows else None
        words = {role: phrase.word for role, phrase in zip(meaning.roles, phrases, strict=True) if role}
        if meaning.is_silent:
            words[AGENT] = _Pronoun(_PRONOUNS)
        if meaning.left_out:
            words[meaning.left_out] = _Pronoun(meaning.genders) if meaning.genders else _BEFORE
        return _event(meaning.key, words)

    def _parse_open(self, text: str) -> PlotEvent | None:
        """Read a plain sentence with any words in it; those of the pack must have their own forms."""
        for key, pattern, _ in self._open:
            match = pattern.fullmatch(text)
            if match is not None:
                words = match.groupdict()
                is_known = bool(words) and all(word in self._known[role] for role, word in words.items())
                return None if is_known else _event(key, words)
        return None

    def _resolve(self, event: PlotEvent, before: PlotEvent, number: int, sentence: str) -> PlotEvent:
        """Return an event with what its sentence leaves to the one before.

        Raises:
            ParseError: If the sentence before has nothing that fits, or two people whom a pronoun fits.
        """
        if isinstance(event.agent, _Pronoun):
            event = event._replace(agent=self._person(event.agent, "subject", before, number, sentence))
        if isinstance(event.hearer, _Pronoun):
            event = event._replace(hearer=self._person(event.hearer, "hearer", before, number, sentence))
        for role, kinds in ((ROOM, IN_ROOM), (THING, OF_THING)):
            if getattr(event, role) is _BEFORE:
                word = getattr(before, role) if before.kind in kinds else None
                if word is None:
                    what = "an object" if role == THING else "a room"
                    raise ParseError(
                        f"sentence {number}: {quoted(sentence)} names no {what.split()[1]}, and the sentence before is "
                        f"not about {what}; name it."
                    )
                event = event._replace(**{role: word})
        return event

    def _person(self, genders: str, role: str, before: PlotEvent, number: int, sentence: str) -> str:
        """Return the subject of the sentence before, if nobody else in it has one of some genders."""
        named = dict.fromkeys(name for name in (before.agent, before.hearer) if name is not None)
        people = [name for name in named if self._gender.get(name, genders) in genders]
        if people != [before.agent]:
            who = " or ".join(people) or "nobody in the sentence before"
            raise ParseError(f"sentence {number}: the {role} of {quoted(sentence)} can be {who}; name the person.")
        return people[0]

    def _explain(self, sentence: str, start: int) -> str:
        """Return from which character on a sentence is not understood, and what could stand there."""
        text, follows = sentence[start:], start > 0
        skeleton, phrases = self._scanner.scan(text, initial=not follows)
        known = self._sorted[follows]
        place = bisect_left(known, skeleton)
        fitting = max((_common(skeleton, near) for near in known[max(0, place - 1) : place + 1]), default=0)
        begins = skeleton[:fitting]
        fitting = len(begins) if fitting == len(skeleton) else _word_start(skeleton, fitting)
        begins = skeleton[:fitting]
        nexts = self._continuations(begins, follows)
        at, used = 0, iter(phrases)
        for sign in begins:
            at = next(used).end if sign in self._scanner.roles else at + 1
        word = _SPACED.match(text, at)
        if not follows and self._open and word is not None and word[0] not in self._literals:
            open_at, open_next = _fit_open(text, [words for _, _, words in self._open])
            if open_at > at:
                at, nexts = open_at, tuple(dict.fromkeys(open_next))
        what = quoted(text[at:]) if text[at:] else "the end of the sentence"
        more = " …" if len(nexts) > _SHOWN else ""
        return (
            f"character {start + at + 1}: not understood: {what}; expected one of: "
            f"{', '.join(nexts[:_SHOWN])}{more} (language '{self.pack.language}')."
        )

    def _list_continuations(self, begins: str, follows: bool) -> tuple[str, ...]:
        """Return how the skeletons that begin so go on."""
        known = self._sorted[follows]
        fitting = takewhile(lambda each: each.startswith(begins), islice(known, bisect_left(known, begins), None))
        return tuple(dict.fromkeys(self._continuation(each[len(begins) :]) for each in fitting))

    def _continuation(self, skeleton: str) -> str:
        """Return how a skeleton goes on: a kind of word, or some words up to the next."""
        if not skeleton:
            return "the end"
        if skeleton[0] in self._scanner.roles:
            return _KINDS[self._scanner.roles[skeleton[0]]]
        words = _PRIVATE.split(skeleton, maxsplit=1)[0]
        return quoted(words.rstrip())

    # Questions.

    def read_question(self, text: str) -> BeliefQuestion:
        """Read a question.

        Raises:
            ParseError: If it has none of the known forms.
        """
        question = self._find_question(text)
        if question is not None:
            return question
        forms = " / ".join(dict.fromkeys(_show(part.alone) for part in self.pack.questions.values()))
        raise ParseError(f"not a question about a story: {quoted(text)}; expected (in parts): {forms}")

    def _find_question(self, text: str) -> BeliefQuestion | None:
        """Return the question that a text asks; None if it has none of the known forms."""
        match = self._match_question(text)
        if match is None:
            return self._open_question(text) if self._open else None
        (ask, roles), phrases = match
        named = [(role, phrase.word) for role, phrase in zip(roles, phrases, strict=True)]
        chain = tuple(word for role, word in named if role == AGENT)
        words = dict(named)
        return BeliefQuestion(ask, words[THING], chain, words.get(CONTAINER))

    def _match_question(self, text: str) -> tuple[tuple[Ask, tuple[str, ...]], list[_Phrase]] | None:
        """Return what the skeleton of a question means, and its names and nouns; None if it has no such skeleton."""
        skeleton, phrases = self._scanner.scan(text, initial=False)
        count = sum(phrase.role == AGENT for phrase in phrases)
        meaning = self._question_table(min(count, _MOST_CHAIN)).get(skeleton.translate(self._scanner.collapsed))
        return None if meaning is None else (meaning, phrases)

    def _question_table(self, count: int) -> dict[str, tuple[Ask, tuple[str, ...]]]:
        """Return the skeletons of all questions that name this number of agents."""
        known = self._questions.get(count)
        if known is not None:
            return known
        known = self._questions[count] = {}
        # What gender agents have does not matter here, but their forms differ ("y Ana", "e Inés").
        alike = {frozenset(self._shape(noun.forms)): noun.forms for noun in self.pack.agents}
        for ask, parts in _wordings(self.pack, count):
            place = f"{self.pack.path}, line {parts[-1].line}"
            groups = (self._scanner.groups[THING], self._scanner.groups[CONTAINER])
            for agent, thing, container in product(alike.values(), *groups):
                text, spans = "", []
                words = {AGENT: agent, HEARER: agent, THING: thing.forms, CONTAINER: container.forms}
                for template in parts:
                    more, places = render(template.alone, words, self._scanner.naming, initial=False)
                    spans += [(len(text) + start, len(text) + end, role) for role, start, end in places]
                    text += more
                skeleton, phrases = self._scanner.scan(text, initial=False)
                skeleton = skeleton.translate(self._scanner.collapsed)
                if [(each.start, each.end) for each in phrases] != [span[:2] for span in spans]:
                    raise VocabularyError(f"{place}: in {quoted(text)} it is not clear what is named; reword it.")
                meaning = ask, tuple(AGENT if role == HEARER else role for *_, role in spans)
                if known.setdefault(skeleton, meaning) != meaning:
                    raise VocabularyError(
                        f"{place}: {quoted(text)} can mean '{ask}' and '{known[skeleton][0]}'; reword one."
                    )
        return known

    def _shape(self, forms: Forms) -> Iterator[tuple[str, str]]:
        for form in sorted(self._scanner.naming & forms.keys()):
            yield form, self._scanner.scan(forms[form], initial=False)[0].translate(self._scanner.collapsed)

    def _open_question(self, text: str) -> BeliefQuestion | None:
        """Read a question with any words in it."""
        most = min(len(re.findall(_ANY_WORD, text)), _MOST_CHAIN)
        for ask, number in product(QUESTIONS, range(most + 1)):
            if ask not in _asks_about(number):
                continue
            pattern = self._open_patterns.get((ask, number))
            if pattern is None:
                source = "".join(
                    f"(?:{'|'.join(_open_pattern(one.alone, f'{place}x{way}_') for way, one in enumerate(part))})"
                    for place, part in enumerate(question_variants(self.pack, ask, number))
                )
                pattern = self._open_patterns[ask, number] = re.compile(source)
            match = pattern.fullmatch(text)
            if match is not None:
                named = [(name.partition("_")[2], word) for name, word in match.groupdict().items() if word]
                words, chain = dict(named), tuple(word for role, word in named if role in (AGENT, HEARER))
                return BeliefQuestion(ask, words[THING], chain, words.get(CONTAINER))
        return None


def _wordings(pack: LanguagePack, count: int) -> Iterator[tuple[Ask, list[SentenceTemplate]]]:
    """Yield the parts of all questions about this number of agents in all wordings; minds between are worded alike."""
    for ask in _asks_about(count):
        first, *rest = question_variants(pack, ask, count)
        if not rest:
            yield from ((ask, [part]) for part in first)
            continue
        for begin, middle, end in product(first, rest[0], rest[-1]) if len(rest) > 1 else ():
            yield ask, [begin, *[middle] * (len(rest) - 1), end]
        if len(rest) == 1:
            yield from ((ask, [begin, end]) for begin, end in product(first, rest[0]))


@cache
def _asks_about(count: int) -> tuple[Ask, ...]:
    """Return the kinds of question that can name this number of agents."""
    kinds = []
    for ask, parts in QUESTIONS.items():
        whole = {0: "none", 1: "one", 2: "two"}.get(count, "")
        if whole in parts or ("last" in parts and count > 1):
            kinds.append(ask)
    return tuple(kinds)


def _is_pronoun(word: str) -> bool:
    return isinstance(word, _Pronoun)


def _event(key: str, words: Mapping[str, Any]) -> PlotEvent:
    if key == "like":
        return PlotEvent(EventKind.FEEL, **words)._replace(feeling="likes")
    return PlotEvent(EventKind[key.split()[0].upper()], **words)._replace(lie=key.endswith(" lie"))


def _find_rooms(events: Sequence[PlotEvent]) -> list[PlotEvent]:
    """Return events with the rooms of placings that do not name theirs, by the rule for ToMi's stories."""
    read = []
    for number, (event, resolved) in enumerate(zip(events, resolve_rooms(list(events)), strict=True), start=1):
        if event.kind in (EventKind.PLACE, EventKind.MOVE) and event.room is None:
            if resolved.room is None:
                raise ParseError(f"sentence {number}: nobody can tell in which room the {event.container} stands.")
            event = event._replace(room=resolved.room)
        read.append(event)
    return read


def _common(text: str, other: str) -> int:
    """Return how many characters two texts begin with in common."""
    for place, (one, two) in enumerate(zip(text, other, strict=False)):
        if one != two:
            return place
    return min(len(text), len(other))


def _word_start(text: str, place: int) -> int:
    """Return where the word begins in which a place lies."""
    while place and text[place - 1].isalnum() and text[place - 1].isascii():
        place -= 1
    return place


# Any words.


def _open_pattern(parts: Sequence[Part], before: str = "") -> str:
    """Return a pattern for a sentence with any words in its slots; of a language with regular articles."""
    pattern = ""
    for part in parts:
        if isinstance(part, str):
            pattern += re.escape(part)
        elif part.form in ("is", "was"):
            pattern += "(?:is|are)" if part.form == "is" else "(?:was|were)"
        else:
            article = "the " if part.form == "the" else ""
            if article and before:  # questions may also say "her marble", and "O" of an object that is a letter
                article = "(?:the |his |her |their |(?=[A-Z](?![^\\s?])))"
            name = f"(?!that\\b){_ANY_WORD}" if before else _ANY_WORD
            pattern += f"{article}(?P<{f'q{before}' if before else ''}{part.role}>{name})"
    return pattern


def _open_sentences(pack: LanguagePack) -> Iterator[tuple[str, re.Pattern[str], list[str]]]:
    """Yield patterns of plain sentences that take any words, and patterns of their words one by one."""
    for key in SENTENCES:
        pattern = _open_pattern(pack.sentences[key, PLAIN][0].alone)
        pattern = pattern[:1].upper() + pattern[1:] if pattern[0].isalpha() else pattern
        words = re.sub(r"\(\?P<\w+>", "(?:", pattern).replace("\\ ", " ").split(" ")
        yield key, re.compile(pattern), words


def _fit_open(text: str, sentences: Iterable[Sequence[str]]) -> tuple[int, list[str]]:
    """Return up to which character a text is like one of the sentences, and the words that could stand there."""
    best, nexts = 0, list[str]()
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    for words in sentences:
        count = 0
        for (start, end), word in zip(spans, words, strict=False):
            if re.fullmatch(word, text[start:end]) is None:
                break
            count += 1
        if count > best:
            best, nexts = count, []
        if count == best and count < len(words):
            shown = words[count].replace(f"(?:{_ANY_WORD})", "WORD").replace("(?:is|are)", "is").replace("\\", "")
            nexts.append(quoted(shown))
    return (spans[best][0] if best < len(spans) else len(text)), nexts


def _show(parts: Sequence[Part]) -> str:
    return "".join(part if isinstance(part, str) else f"<{part.role}>" for part in parts)
