"""A language pack: the words and sentences of one language, checked when they are loaded."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from storyproof.errors import VocabularyError, quoted
from storyproof.families.belief.language.grammar import FEMALE, MALE, NAME, Forms, Grammar, GrammarError
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.vocabulary import Vocabulary
from storyproof.io.bounded_input import read_text, shipped_loader

# The grammars by language.
GRAMMARS = {
    "en": "storyproof.families.belief.language.english:English",
    "de": "storyproof.families.belief.language.german:German",
    "es": "storyproof.families.belief.language.spanish:Spanish",
    "zh": "storyproof.families.belief.language.chinese:Chinese",
}
_FOLDER = Path(__file__).parent

AGENT, ROOM, THING, CONTAINER, HEARER = "agent", "room", "thing", "container", "hearer"
ROLES = (AGENT, ROOM, THING, CONTAINER, HEARER)
_LISTS = {ROOM: "rooms", CONTAINER: "containers", THING: "objects"}
_SAID = frozenset((AGENT, THING, CONTAINER))
# The kinds of sentence with the slots that each has.
SENTENCES: dict[str, frozenset[str]] = {
    "noise": frozenset(),
    "enter": frozenset((AGENT, ROOM)),
    "exit": frozenset((AGENT, ROOM)),
    "place": frozenset((THING, CONTAINER, ROOM)),
    "move": _SAID,
    "peek": frozenset((AGENT, ROOM)),
    "unpeek": frozenset((AGENT,)),
    "distract": frozenset((AGENT,)),
    "attend": frozenset((AGENT,)),
    "tell": _SAID,
    "whisper": _SAID | {HEARER},
    "announce": _SAID,
    "like": frozenset((AGENT, THING)),
    "tell lie": _SAID,
    "whisper lie": _SAID | {HEARER},
    "announce lie": _SAID,
    "is_in": frozenset((AGENT, ROOM)),
}
KEYS = tuple(SENTENCES)
PLAIN, NARRATIVE, TOMI = "plain", "narrative", "tomi"
# What the sentences before say, so that a narrative goes on from there, with the role that a sentence then does not
# name because it is that of the sentence before. All else is `usual`: the first time of an object, for instance.
SITUATIONS: dict[str, str] = {
    "usual": "",
    "back": "",  # somebody enters a room again, or an object comes back to a container
    "here": ROOM,  # in the room of the sentence before
    "too": ROOM,  # somebody else has just entered it
    "back here": ROOM,
    "known": "",  # an object that was named before
    "known here": ROOM,
    "it": THING,  # the object of the sentence before
    "back it": THING,
    "him": HEARER,  # somebody speaks to the subject of the sentence before
}
_SITUATIONS_OF: dict[str, tuple[str, ...]] = {
    "enter": ("back", "here", "too", "back here"),
    "exit": ("here",),
    "place": ("here", "known", "known here"),
    "move": ("back", "it", "back it"),
    "whisper": ("him",),
    "whisper lie": ("him",),
    "like": ("known",),
}
# The parts of each kind of question, with their slots. Parts called first, middle and last make up a chain.
_ABOUT, _ASKED = frozenset((THING,)), frozenset((THING, CONTAINER))
_ONE = frozenset((AGENT,))
QUESTIONS: dict[Ask, dict[str, frozenset[str]]] = {
    Ask.REALITY: {"none": _ABOUT},
    Ask.MEMORY: {"none": _ABOUT},
    Ask.BELIEF: {"one": _ABOUT | _ONE, "first": _ONE, "middle": _ONE, "last": _ABOUT | _ONE},
    Ask.SAYS: {"one": _ABOUT | _ONE},
    Ask.KNOWS_WHERE: {"one": _ABOUT | _ONE},
    Ask.KNOWS_WRONG: {"two": _ABOUT | _ONE | {HEARER}},
    Ask.BELIEVERS: {"none": _ASKED, "one": _ASKED | _ONE, "first": _ONE, "middle": _ONE, "last": _ASKED | _ONE},
    Ask.COMMON: {"first": _ONE, "middle": _ONE, "last": _ABOUT | _ONE},
}
ANSWERS = ("yes", "no", "unknown", "nobody", "between")
_SLOT = re.compile(r"\{([^{}]*)\}")
_TWO_FORMS = re.compile(r"(\w+)\|(\w+)(?=\})")
_VERB = re.compile(r"\s*\[(.*?)\]")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place in a sentence for a form of a word."""

    role: str
    form: str


Part = str | Slot


@dataclass(frozen=True, slots=True)
class SentenceTemplate:
    """A sentence with slots.

    Attributes:
        alone: How it stands alone.
        after: How it stands after a connective or a time.
        line: Its line.
        left_out: The role that it does not name because it is that of the sentence before; empty if there is none.
    """

    alone: tuple[Part, ...]
    after: tuple[Part, ...]
    line: int
    left_out: str = ""


_Templates = dict[tuple[Ask, str], SentenceTemplate]


@dataclass(frozen=True, slots=True)
class Noun:
    """A word with its forms and its line; for names also the gender."""

    word: str
    forms: Forms
    line: int
    gender: str = ""


class LanguagePack:
    """The words, sentences and questions of one language."""

    def __init__(self, language: str, grammar: Grammar, path: Path) -> None:
        """Read and check a file.

        Raises:
            VocabularyError: If something is missing or wrong, with the file, the line and what to do.
        """
        self.language, self.grammar, self.path = language, grammar, path
        top = _open(path).mapping(("sentences", "connectives", "times", "questions", "answers", *_NOUNS, "agents"))
        self.agents = self._read_agents(top["agents"])
        self.nouns: dict[str, tuple[Noun, ...]] = {
            role: self._read_nouns(top[name], role) for role, name in _LISTS.items()
        }
        self.nouns[AGENT] = self.nouns[HEARER] = self.agents
        self.connectives = tuple(node.text() for node in top["connectives"].items())
        self.times = tuple(node.text() for node in top["times"].items())
        # Where the sentences of a situation begin among those of `templates_of`, and how many pairs there are.
        self.situations: dict[tuple[str, str], tuple[int, int]] = {}
        self.sentences = self._read_sentences(top["sentences"])
        self.questions, self.other_questions = self._read_questions(top["questions"])
        answers = top["answers"].mapping(ANSWERS)
        self.answers = {name: answers[name].text() for name in ANSWERS}
        lists = ([noun.word for noun in self.nouns[role]] for role in (AGENT, ROOM, CONTAINER, THING))
        try:
            self.vocabulary = Vocabulary(*map(tuple, lists))
        except VocabularyError as error:
            nouns_quoted = (noun for nouns in self.nouns.values() for noun in nouns if quoted(noun.word) in str(error))
            last = max((noun.line for noun in nouns_quoted), default=1)
            raise VocabularyError(f"{path}, line {last}: {error}") from None

    @property
    def space(self) -> str:
        """What stands between words."""
        return " " if self.grammar.spaced else ""

    def _read_agents(self, node: _Node) -> tuple[Noun, ...]:
        agents = []
        for item in node.items():
            name, *marks = item.text().split()
            if marks not in ([MALE], [FEMALE]):
                raise item.error(f"the name {quoted(name)} has no gender; write '{name} {FEMALE}' or '{name} {MALE}'")
            agents.append(Noun(name, self.grammar.agent_forms(name, marks[0]), item.line, marks[0]))
        return tuple(agents)

    def _read_nouns(self, node: _Node, role: str) -> tuple[Noun, ...]:
        nouns = []
        for _, item in node.pairs():
            word, *marks = item.text().split()
            try:
                nouns.append(Noun(word, self.grammar.noun_forms(word, frozenset(marks)), item.line))
            except GrammarError as error:
                raise item.error(f"{role} {quoted(word)}: {error}") from None
        return tuple(nouns)

    def _read_sentences(self, node: _Node) -> dict[tuple[str, str], tuple[SentenceTemplate, ...]]:
        """Return the sentences by kind and style; each of a narrative for a known container, then for a new one."""
        templates: dict[tuple[str, str], tuple[SentenceTemplate, ...]] = {}
        for key, item in node.mapping(KEYS).items():
            for style, texts in item.mapping((PLAIN, NARRATIVE), (TOMI,) if key == "place" else ()).items():
                if style == NARRATIVE:
                    templates[key, style] = tuple(self._read_narrative(key, texts))
                else:
                    needed = SENTENCES[key] - ({ROOM} if style == TOMI else set())
                    templates[key, style] = (self._read_template(texts, needed),)
        return templates

    def _read_narrative(self, key: str, node: _Node) -> Iterator[SentenceTemplate]:
        """Yield the sentences of a narrative, and note in `situations` which are for what situation."""
        allowed = _SITUATIONS_OF.get(key, ())
        items = {"usual": node} if node.is_list else node.mapping(("usual",), allowed)
        start = 1  # after the plain sentence
        for situation, texts in items.items():
            left_out = SITUATIONS[situation]
            nodes = texts.items()
            self.situations[key, situation] = start, len(nodes)
            start += 2 * len(nodes)
            for each in nodes:
                for is_new in (False, True):
                    yield self._read_template(each, SENTENCES[key] - {left_out}, left_out=left_out, is_new=is_new)

    def _read_questions(self, node: _Node) -> tuple[_Templates, dict[tuple[Ask, str], tuple[SentenceTemplate, ...]]]:
        """Return what is asked by each part of a question, and how else people ask it: the rest of a list."""
        asks, others = {}, {}
        for name, item in node.mapping(tuple(map(str, QUESTIONS))).items():
            ask = Ask(name)
            needed = QUESTIONS[ask]
            parts = {next(iter(needed)): item} if len(needed) == 1 else item.mapping(tuple(needed))
            for part, each in parts.items():
                nodes = each.items() if each.is_list else [each]
                asks[ask, part], *rest = (self._read_template(one, needed[part], is_loose=True) for one in nodes)
                others[ask, part] = tuple(rest)
        return asks, others

    def _read_template(
        self,
        node: _Node,
        needed: frozenset[str],
        *,
        is_loose: bool = False,
        left_out: str = "",
        is_new: bool = False,
    ) -> SentenceTemplate:
        """Read a sentence.

        Args:
            node: The sentence.
            needed: The roles that it must name.
            is_loose: Whether it may also have forms that agree with an object named elsewhere.
            left_out: The role that the sentence before names.
            is_new: Whether it names a container for the first time: the second of two forms ("{container:the|a}").
        """
        text = _TWO_FORMS.sub(r"\2" if is_new else r"\1", node.text())
        verb = _VERB.search(text)
        alone = self._parts(text.replace("[", "").replace("]", ""), node)
        after = alone
        if verb is not None:
            subject, rest = text[: verb.start()], text[verb.end() :]
            after = self._parts(f"{verb[1]} {subject}{rest}", node)
        slots = [part for part in alone if isinstance(part, Slot)]
        named = [slot.role for slot in slots if slot.form in self.grammar.naming]
        for role in ROLES:
            if named.count(role) != (role in needed):
                fault = "is missing" if role in needed else "does not belong here"
                raise node.error(
                    f"{{{role}}} {fault if named.count(role) < 2 else 'occurs twice'} in {quoted(text)}; "
                    f"expected one of each: {', '.join(sorted(needed)) or 'no slots'}"
                )
        for slot in slots:
            if slot.role not in needed and slot.role != left_out and not (is_loose and slot.role == THING):
                raise node.error(f"{{{slot.role}:{slot.form}}} agrees with nothing in {quoted(text)}; remove it")
        return SentenceTemplate(alone, after, node.line, left_out)

    def _parts(self, text: str, node: _Node) -> tuple[Part, ...]:
        parts: list[Part] = []
        for place, piece in enumerate(_SLOT.split(text)):
            if place % 2:
                parts.append(self._slot(piece, node))
            elif "{" in piece or "}" in piece:
                raise node.error(f"unbalanced braces in {quoted(text)}; write a slot as {{role}} or {{role:form}}")
            elif piece:
                parts.append(piece)
        return tuple(parts)

    def _slot(self, text: str, node: _Node) -> Slot:
        role, _, form = text.partition(":")
        form = form or NAME
        if role not in ROLES:
            raise node.error(f"unknown slot {{{text}}}; expected one of: {', '.join(ROLES)}")
        for noun in self.nouns[role]:
            if form not in noun.forms:
                known = ", ".join(sorted(noun.forms))
                raise node.error(
                    f"{{{text}}} needs the form '{form}', which {quoted(noun.word)} does not have (it has: {known}); "
                    "use one of these, or add the mark that it lacks to the word"
                )
        return Slot(role, form)


_NOUNS = tuple(_LISTS.values())


def render(
    parts: Sequence[Part], words: Mapping[str, Forms], naming: frozenset[str], *, initial: bool
) -> tuple[str, list[tuple[str, int, int]]]:
    """Return a sentence with words in its slots, and where it names what, as (role, start, end).

    Args:
        parts: The sentence.
        words: The forms of the word for each role.
        naming: The forms that name something.
        initial: Whether it begins a sentence, and so with a capital.
    """
    text, spans, is_silent = "", [], False
    for part in parts:
        if isinstance(part, Slot):
            form = words[part.role][part.form]
            if part.form in naming:
                spans.append((part.role, len(text), len(text) + len(form)))
            text += form
            is_silent = not form
        else:
            text += part.lstrip() if is_silent else part  # a subject that is left out takes its space with it
            is_silent = False
    return (text[:1].upper() + text[1:] if initial else text), spans


def templates_of(pack: LanguagePack, key: str) -> tuple[SentenceTemplate, ...]:
    """Return all templates of a kind of sentence: the plain one, the narrative ones, and that of ToMi if it differs."""
    styles = (PLAIN, NARRATIVE, TOMI)
    return tuple(template for style in styles for template in pack.sentences.get((key, style), ()))


def question_parts(pack: LanguagePack, ask: Ask, count: int) -> list[tuple[SentenceTemplate, int]]:
    """Return the parts of a question about this number of agents, each with the number of its {agent}."""
    return [(pack.questions[ask, name], number) for number, name in enumerate(_part_names(ask, count))]


def question_variants(pack: LanguagePack, ask: Ask, count: int) -> list[tuple[SentenceTemplate, ...]]:
    """Return for each part of a question about this number of agents all ways to word it, the one that we ask first."""
    names = _part_names(ask, count)
    return [(pack.questions[ask, name], *pack.other_questions[ask, name]) for name in names]


def _part_names(ask: Ask, count: int) -> list[str]:
    whole = {0: "none", 1: "one", 2: "two"}.get(count, "")
    return [whole] if whole in QUESTIONS[ask] else ["first", *["middle"] * (count - 2), "last"]


def subjects(pack: LanguagePack) -> list[Forms]:
    """Return what can stand for an agent besides its name: pronouns, and nothing, for a man and for a woman."""
    grammar = pack.grammar
    forms = [grammar.agent_forms(grammar.pronouns[gender], gender) for gender in (MALE, FEMALE)]
    return [*forms, *(grammar.agent_forms("", gender) for gender in (MALE, FEMALE))]


@dataclass(frozen=True, slots=True)
class _Node:
    """A value of a file with its line."""

    path: Path
    node: Any

    @property
    def line(self) -> int:
        return int(self.node.start_mark.line) + 1

    def error(self, what: str) -> VocabularyError:
        return VocabularyError(f"{self.path}, line {self.line}: {what}.")

    @property
    def is_list(self) -> bool:
        import yaml

        return isinstance(self.node, yaml.SequenceNode)

    def text(self) -> str:
        import yaml

        if not isinstance(self.node, yaml.ScalarNode) or not self.node.value.strip():
            raise self.error("expected a text; write one in quotes")
        return str(self.node.value)

    def items(self) -> list[_Node]:
        import yaml

        if not isinstance(self.node, yaml.SequenceNode) or not self.node.value:
            raise self.error("expected a list with at least one entry; write [a, b] or lines that begin with '- '")
        return [_Node(self.path, each) for each in self.node.value]

    def pairs(self) -> Iterator[tuple[str, _Node]]:
        import yaml

        if not isinstance(self.node, yaml.MappingNode) or not self.node.value:
            raise self.error("expected lines of the form 'name: value'")
        seen: set[str] = set()
        for key, value in self.node.value:
            if key.value in seen:
                raise _Node(self.path, key).error(f"'{key.value}' occurs twice; remove one")
            seen.add(key.value)
            yield str(key.value), _Node(self.path, value)

    def mapping(self, needed: Sequence[str], optional: Sequence[str] = ()) -> dict[str, _Node]:
        values = {}
        for key, value in self.pairs():
            if key not in needed and key not in optional:
                raise value.error(f"unknown entry '{key}'; expected: {', '.join((*needed, *optional))}")
            values[key] = value
        for key in needed:
            if key not in values:
                raise self.error(f"'{key}' is missing here; add it")
        return values


def _open(path: Path) -> _Node:
    """Read a file of YAML.

    Raises:
        VocabularyError: If it cannot be read or is not YAML.
    """
    import yaml

    try:
        node = yaml.compose(read_text(path), Loader=shipped_loader())
    except (OSError, UnicodeDecodeError) as error:
        raise VocabularyError(f"cannot read the language pack {path}: {error}.") from error
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise VocabularyError(f"{path}{line}: not valid YAML: {getattr(error, 'problem', error)}.") from error
    if node is None:
        raise VocabularyError(f"{path}: the file is empty; copy another pack and translate it.")
    return _Node(path, node)


@cache
def load_pack(language: str) -> LanguagePack:
    """Return the pack of a language that ships with storyproof."""
    module, _, name = GRAMMARS[language].partition(":")
    grammar: Callable[[], Grammar] = getattr(import_module(module), name)
    return LanguagePack(language, grammar(), _FOLDER / f"{language}.yaml")
