"""Stories as people write them, put into our plain sentences.

The readers of `tomi_text` and `language.reader` are exact on what we narrate, with one event per sentence. `reword` is
for text that they refuse: it understands the patterns of `language/rewordings.yaml`, follows who is where, and returns
the same story in plain sentences with what each was made of. These are read by the same readers as any story. It
refuses what it does not understand, what has two readings, and what cannot happen.

Some things that people leave unsaid are read in one way, always:

- Somebody who leaves a room, or handles something, without having entered was there from the beginning.
- "The room" is the room that somebody is in, or the only other room of the story. A story that names no room has one.
- What somebody puts somewhere is there from then on, if nothing says where it was before.
- "She" is the only person in the story, the only one of the clause before, or in "while she is away" the only one who
  is away; "it" is the only object of the clause before. "She" means nobody who cannot do it or is not a woman.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from storyproof.errors import ParseError, listed, quoted
from storyproof.families.belief import tomi_text
from storyproof.families.belief.clauses import (
    COMING,
    IDLE,
    LEAVING,
    NAME,
    PRONOUNS,
    Clause,
    load_tables,
    names_in,
    nouns_in,
    read_clauses,
    split_sentences,
)
from storyproof.families.belief.language.grammar import FEMALE, MALE
from storyproof.families.belief.language.pack import load_pack
from storyproof.families.belief.read_text import read_story
from storyproof.families.belief.wording import find_wording
from storyproof.families.belief.world import MESSAGES, EventKind, PlotEvent, plot_problems
from storyproof.families.family import Rewording

_ROOM = "room"  # what any room is called
_NOT_SAID = "(not said: who was there from the beginning)"


@cache
def _genders() -> dict[str, str]:
    """Return what somebody with a name is called: "he" or "she"."""
    pronouns = {MALE: "he", FEMALE: "she"}
    genders = {noun.word: pronouns[noun.gender] for noun in load_pack("en").agents}
    for pronoun, names in (("he", "men"), ("she", "women")):
        genders.update(dict.fromkeys(load_tables()[names].split(), pronoun))
    return genders


@lru_cache(maxsize=256)
def reword(text: str, question: str = "") -> Rewording:
    """Return a story in our plain sentences.

    Sentences in which nothing happens are left out; one with several people or deeds becomes several. What a question
    says before it asks ("After Ann comes back, where …") is the last sentence.

    Raises:
        ParseError: With the number of the sentence that is not understood, has two readings, or cannot happen.
    """
    text, question, roles = _name_roles(text.replace("’", "'"), question.replace("’", "'"))
    happens_last, asked = _divide_question(question)
    sentences = [*split_sentences(text), *([happens_last] if happens_last else [])]
    clauses: list[tuple[int, list[Clause]]] = []
    for number, sentence in enumerate(sentences, start=1):
        before = [options for _, options in clauses]
        clauses += [(number, options) for options in read_clauses(sentence, number, before)]
    clauses = [(number, _known_options(options, f"{text} {question}", number)) for number, options in clauses]
    clauses = list(_join_takings(clauses))
    nouns = _sort_nouns([options[0] for _, options in clauses if len(options) == 1])
    if roles and len(nouns.agents - roles) > 1:
        raise ParseError(f"{listed(sorted(roles))} may be somebody whom the story names; give everybody a name.")
    everything = nouns.rooms | nouns.containers | nouns.things
    for noun in sorted(everything):
        head = noun.rpartition("_")[2]
        if "_" in noun and noun not in text and head in everything - {_ROOM}:
            raise ParseError(f"the {noun.replace('_', ' ')} may be the {head} or another one; give each its own name.")
    named = {
        each.noun("room")
        for _, options in clauses
        for each in options[:1]
        if "room" in each.slots and each.slots["room"].partition(" ")[0].lower() == "the"
    }
    story = _Story(nouns, named)
    for number, options in clauses:
        try:
            story.add(_choose(options, nouns), number)
        except ParseError as error:
            raise ParseError(f"sentence {number}, {quoted(sentences[number - 1])}: {error}") from None
    lines = story.lines()
    by_sentence = [" ".join(line for origin, line in lines if origin == number) for number in range(len(sentences) + 1)]
    read_as = zip((_NOT_SAID, *sentences), by_sentence, strict=True)
    changed = tuple((written, read) for written, read in read_as if written != read and (read or written != _NOT_SAID))
    if happens_last and clauses[-1][1][0].kind not in (*COMING, *LEAVING):
        raise ParseError(f"what {quoted(happens_last)} adds to the story is not understood.")
    return Rewording("\n".join(line for _, line in lines), changed, _join_words(story.ask(asked), story))


def _divide_question(question: str) -> tuple[str, str]:
    """Return what a question says before or after it asks, as a sentence, and what it asks."""
    opening = load_tables()["after"]
    if match := re.match(rf"{opening} ([^,]+), (?=[a-z])", question):
        return f"{match[1]}.", question[match.end() :][:1].upper() + question[match.end() :][1:]
    if match := re.match(
        rf"(Where (?:will|would|does) .+?) (?:{opening.lower().replace('as soon', 'as soon')}) ([^,?]+)\?", question
    ):
        return f"{match[2]}.", f"{match[1]}?"
    return "", question


def _name_roles(text: str, question: str) -> tuple[str, str, set[str]]:
    """Return a story and a question in which "his mother" is Mother, and all whom they name like that.

    Raises:
        ParseError: If there may be two of them: "his mother" and "her mother".
    """
    owners: dict[str, set[str]] = {}

    def name(match: re.Match[str]) -> str:
        owners.setdefault(match[2], set()).add(match[1].lower())
        return match[2].capitalize()

    roles = "|".join(load_tables()["roles"].split())
    story = re.sub(rf"\b([Tt]he|[Hh]is|[Hh]er) ({roles})\b(?!')", name, text)
    for role, whose in owners.items():
        if {"his", "her"} <= whose:
            raise ParseError(f"there may be one {role} or two, his and hers; give each a name.")
    if owners:
        question = re.sub(
            rf"\b(?:the|his|her|{NAME}'s) ({'|'.join(owners)})\b", lambda at: at[1].capitalize(), question
        )
    return story, question, {role.capitalize() for role in owners}


def _join_takings(clauses: Sequence[tuple[int, list[Clause]]]) -> Iterator[tuple[int, list[Clause]]]:
    """Yield the clauses, those that say where something is taken and those that say where it is put as one.

    Raises:
        ParseError: If it is not told where something is put.
    """
    taking: Clause | None = None
    for number, options in clauses:
        if options[0].kind == "take":
            if taking is not None:
                break
            taking = options[0]
        elif taking is not None and all(each.kind in ("put", "move") for each in options):
            puts = [each for each in options if each.noun("thing") == taking.noun("thing")]
            if not puts or not _may_go_on(taking, puts[0]):
                break
            slots = {**taking.slots, "container": puts[0].slots["container"]}
            yield number, [Clause("move", slots)]
            taking = None
        elif taking is not None and not (options[0].kind in IDLE and _may_go_on(taking, options[0])):
            break
        else:
            yield number, options
    if taking is not None:
        raise ParseError(f"the story does not say where {taking.people} puts the {taking.noun('thing')}.")


def _may_go_on(first: Clause, second: Clause) -> bool:
    """Return whether two clauses may be about the same person."""
    return second.people in ("", first.people, *PRONOUNS[:4])


def _join_words(question: str, story: _Story) -> str:
    """Return a question with the names and nouns of several words in it as the story has them."""
    names = story.nouns
    for word in sorted((*names.agents, *names.things, *names.containers, *names.rooms), key=len, reverse=True):
        if "_" in word:
            question = re.sub(rf"\b{word.replace('_', ' ')}\b", word, question, flags=re.IGNORECASE)
    return question


def _known_options(options: list[Clause], text: str, number: int) -> list[Clause]:
    """Leave out readings with nouns of several words that occur only once: "the hall unseen" is no room."""
    known = [each for each in options if each.kind in IDLE or all(_is_known(noun, text) for noun in each.nouns)]
    if not known:
        word = next(noun for noun in options[0].nouns if not _is_known(noun, text)).replace("_", " ")
        raise ParseError(f"sentence {number}: not understood: {quoted(word)}, which is named only here.")
    return known


def _is_known(noun: str, text: str) -> bool:
    if "_" not in noun or noun in text or noun.rpartition("_")[2] in load_tables()["heads"].split():
        return True
    return len(re.findall(rf"\b{noun.replace('_', ' ')}\b", text, re.IGNORECASE)) > 1


# ------------------------------------------------------------------------------------------------------ what is what


@dataclass(slots=True)
class _Nouns:
    """Which words are used as what, by the clauses that have one reading."""

    agents: set[str] = field(default_factory=set)
    rooms: set[str] = field(default_factory=set)
    things: set[str] = field(default_factory=set)
    containers: set[str] = field(default_factory=set)


def _sort_nouns(clauses: Sequence[Clause]) -> _Nouns:
    nouns = _Nouns()
    for clause in clauses:
        if clause.kind not in IDLE:
            for people in filter(None, (clause.people, clause.slots.get("hearer"))):
                nouns.agents.update(name for name in names_in(people) if name not in PRONOUNS)
        if "room" in clause.slots:
            nouns.rooms.add(clause.noun("room"))
        if clause.kind in ("put", "move"):
            nouns.things.add(clause.noun("thing"))
            nouns.containers.add(clause.noun("container"))
    placed = [(each.noun("thing"), each.noun("container")) for each in clauses if each.kind == "place"]
    holding = nouns.containers | {container for _, container in placed}
    for clause in clauses:
        if (
            clause.kind == "furnish"
            and holding & set(nouns_in(clause.slots["list"]))
            and clause.noun("place") not in holding
        ):
            nouns.rooms.add(clause.noun("place"))
    for _, container in placed:  # "The box is in the attic": what holds nothing but containers is a room
        inside = {thing for thing, place in placed if place == container}
        if inside <= holding and container not in nouns.containers | nouns.things:
            nouns.rooms.add(container)
    nouns.containers |= {container for _, container in placed} - nouns.rooms
    for thing, container in placed:
        if container == thing or (container not in nouns.rooms and thing in nouns.containers):
            raise ParseError(f"the {thing} is a container, and is said to be in the {container}; only rooms hold them.")
    if both := nouns.rooms & nouns.containers:
        raise ParseError(f"'{min(both)}' is both a room and something in a room; give each its own name.")
    for name in nouns.agents:
        for word in name.split("_") if "_" in name else ():
            if word in nouns.agents:
                raise ParseError(f"'{name.replace('_', ' ')}' may be one person or two, as {word} is somebody.")
    return nouns


def _choose(options: Sequence[Clause], nouns: _Nouns) -> Clause:
    """Return the one reading of a clause that fits the rest of the story.

    Raises:
        ParseError: If two readings fit, or none.
    """
    fitting = [each for option in options if (each := _fit(option, nouns)) is not None]
    if len(fitting) != 1:
        shown = " or ".join(f"{each.kind} ({', '.join(each.slots.values())})" for each in fitting or options)
        raise ParseError(f"this can mean: {shown}.")
    return fitting[0]


def _fit(clause: Clause, nouns: _Nouns) -> Clause | None:
    """Return a reading as the rest of the story has it; None if its words are something else there."""
    if clause.kind == "is_in":
        is_thing = any(name in nouns.things - nouns.agents for name in names_in(clause.people))
        return None if is_thing or clause.noun("room") in nouns.containers - nouns.rooms else clause
    if clause.kind == "place" and "room" not in clause.slots:
        if clause.noun("thing") in nouns.agents:
            return None
        if clause.noun("container") in nouns.rooms - nouns.containers:  # "The box is in the attic."
            return Clause("home", {"container": clause.slots["thing"], "room": clause.slots["container"]})
    return clause


# -------------------------------------------------------------------------------------------------------------- events


class _Story:
    """A story while it is reworded: who is where, where things are, and the events with the sentences they are from."""

    def __init__(self, nouns: _Nouns, named: Collection[str]) -> None:
        self.nouns = nouns
        self.named = named  # rooms that have a name: "the hall", not "a competition"
        self.rooms = nouns.rooms - {_ROOM} or {_ROOM}
        self.present: list[PlotEvent] = []  # who was there from the beginning
        self.events: list[tuple[int, PlotEvent]] = []
        self.where: dict[str, str | None] = {}
        self.left: dict[str, str] = {}  # the room that somebody left last
        self.homes: dict[str, str] = {}  # container → room
        self.told: set[str] = set()  # containers whose room the story tells; of others there may be one in each room
        self.places: dict[str, tuple[str | None, str]] = {}  # object → room and container
        self.group: list[str] = []
        self.topic: list[str] = []  # the only person of the clause before
        self.genders: dict[str, str] = {}  # by the pronouns that were used
        self.owners: dict[str, set[tuple[str, ...]]] = {}
        self.introduced: Counter[str] = Counter()  # how often a noun had "a"
        self.mentioned: set[str] = set()
        self.number = 0

    def add(self, clause: Clause, number: int) -> None:
        """Add what a clause of a sentence says.

        Raises:
            ParseError: If it is not clear, or cannot happen.
        """
        self.number = number
        people = self._people(clause.people, clause.kind)
        self._check_owners(clause, people)
        match clause.kind:
            case "like":
                pass
            case "idle":
                self._check_idle(clause)
            case "own":
                self._check_idle(clause)
                if "wish" in clause.slots and clause.noun("wish") in self.places:
                    raise ParseError(f"the {clause.noun('wish')} is in the {self.places[clause.noun('wish')][1]}.")
            case "furnish":
                self._furnish(clause)
            case "gone" if all(self.where.get(agent) is None and agent in self.left for agent in people):
                pass
            case "depart":
                for agent in people:
                    self._depart(clause, agent)
            case "away":
                if self.where.get(people[0]) is not None or people[0] not in self.left:
                    raise ParseError(f"nothing says that {people[0]} left.")
            case "home":
                self._settle(clause.noun("container"), self._room(clause, ""))
            case "place":
                self._place(clause, people)
            case "put" | "move":
                self._handle(clause, people[0])
            case "whisper" | "announce":
                self._tell(clause, people[0])
            case "enter" | "return" | "come":
                for agent in people:
                    self._enter(clause, agent)
            case "is_in" | "stay":
                for agent in people:
                    self._stay(clause, agent)
            case _:
                for agent in people:
                    self._exit(clause, agent)
        if len(people) > 1:
            self.group = people
        others = [
            *clause.slots.get("hearer", "").split(),
            *re.findall(rf"({NAME})'s ", " ".join(clause.slots.values())),
        ]
        self.topic = people if {*people, *others} == {*people[:1]} and clause.kind != "away" else []

    def _add(self, event: PlotEvent) -> None:
        self.events.append((self.number, event))

    def _people(self, value: str, kind: str) -> list[str]:
        if not value:
            return []
        if value not in PRONOUNS:
            names = names_in(value)
            if len(set(names)) < len(names):
                raise ParseError("somebody is named twice.")
            for name in names:
                self.where.setdefault(name, None)
            return names
        able = self.group if value.lower() == "they" else self._meant(value.lower(), kind)
        if able and (value.lower() != "they" or set(able) == set(self.where)):
            return able
        raise ParseError(
            f"'{value}' can be {' or '.join(able or self.where) or 'nobody mentioned so far'}; name the person."
        )

    def _meant(self, pronoun: str, kind: str) -> list[str]:
        """Return the one person whom "he" or "she" means; nobody if there may be several."""
        absent = [name for name in self.left if self.where[name] is None]
        if kind == "away":
            able = absent if len(absent) == 1 else []
        else:
            able = list(self.where) if len(self.where) == 1 else self.topic
            is_there = kind not in (*COMING, *IDLE, "gone")
            able = [name for name in able if not (is_there and name in absent)]
        for name in able:
            if self.genders.setdefault(name, _genders().get(name.split("_")[0], pronoun)) != pronoun:
                return []
        return able

    def _check_owners(self, clause: Clause, people: Sequence[str]) -> None:
        """Refuse two things with one noun: "her box" and "his box", or "a box" twice."""
        for slot in ("thing", "said", "container", "from", *(("wish",) if clause.kind == "own" else ())):
            if slot not in clause.slots:
                continue
            noun, determiner = clause.noun(slot), clause.slots[slot].partition(" ")[0].lower()
            if determiner in ("a", "an", "some"):
                self.introduced[noun] += 1 + (noun in self.mentioned)
            if determiner in ("his", "her", "their") or clause.kind == "own":
                self.owners.setdefault(noun, set()).add(tuple(people))
            elif determiner.endswith("'s"):
                self.owners.setdefault(noun, set()).add((clause.slots[slot].partition("'")[0].replace(" ", "_"),))
            self.mentioned.add(noun)
            if noun in load_tables()["carried"].split():
                raise ParseError(f"what is in a {noun} goes along with its owner; that is not understood.")
            owners = sorted(" and ".join(each) for each in self.owners.get(noun, ()))
            if len(owners) > 1 or self.introduced[noun] > 1:
                whose = f" of {listed(owners)}" if len(owners) > 1 else ""
                raise ParseError(f"there may be one {noun} or two{whose}; give each its own name.")

    def ask(self, question: str) -> str:
        """Return a question in which pronouns and possessives are people and objects of the story."""
        if match := re.search(r"\b(?:he|she)\b", question):
            agents = self._meant(match[0], "")
            if len(agents) != 1:
                raise ParseError(f"'{match[0]}' can be {' or '.join(self.where)}; name the person in the question.")
            question = re.sub(r"\b(?:he|she)\b", agents[0], question)
        if len(self.places) == 1:
            question = re.sub(r"\bit\b", f"the {next(iter(self.places))}", question)
        for thing in self.places:
            whose = rf"\b(?:his|her|their|{NAME}'s)(?: own)? {thing.replace('_', ' ')}\b"
            question = re.sub(whose, f"the {thing}", question)
        return question

    def _room(self, clause: Clause, agent: str) -> str:
        """Return the room of a clause; "the room" is where the agent is, or the only other room."""
        room = clause.noun("room")
        is_new = clause.slots["room"].partition(" ")[0].lower() in ("a", "an", "some")
        if is_new and room not in self.named and room not in find_wording("en").vocabulary.rooms:
            raise ParseError(f"nothing says that the {room} is a room.")
        if room != _ROOM or self.rooms == {_ROOM}:
            return room
        here = self.where.get(agent)
        if here is None and len(self.rooms) != 1:
            raise ParseError(f"the room can be {_either(self.rooms)}; name it.")
        return here or next(iter(self.rooms))

    def _check_idle(self, clause: Clause) -> None:
        """Refuse a sentence that is no noise, as it is about something of the story."""
        for slot in {"word", "words"} & clause.slots.keys():
            for word in nouns_in(clause.slots[slot]):
                if word in self.nouns.things:
                    raise ParseError(f"what this says about the {word} is not understood.")

    def _be_present(self, agent: str, room: str | None) -> str:
        """Return where somebody is; a person who has neither entered nor left was in this room from the beginning."""
        here = self.where.get(agent)
        if here is not None:
            return here
        if agent in self.left:
            raise ParseError(f"{agent} left the {self.left[agent]} and has not come back.")
        if room is None and len(self.rooms) == 1:
            [room] = self.rooms
        if room is None:
            raise ParseError(f"{agent} is in no room{f'; it can be {_either(self.rooms)}' if self.rooms else ''}.")
        self.present.append(PlotEvent(EventKind.IS_IN, agent=agent, room=room))
        self.where[agent] = room
        return room

    def _furnish(self, clause: Clause) -> None:
        """Add that containers are in a room; other furniture changes nothing."""
        for noun in nouns_in(clause.slots["list"]):
            if noun in self.nouns.containers:
                self._settle(noun, clause.noun("place"))
            elif noun in self.nouns.things:
                raise ParseError(f"what this says about the {noun} is not understood.")

    def _enter(self, clause: Clause, agent: str) -> None:
        if clause.kind == "enter":
            room = self._room(clause, "")
        elif agent in self.left:
            room = self.left[agent]
        elif clause.kind == "come" and len(self.rooms) == 1:
            [room] = self.rooms
        elif clause.kind == "come":
            raise ParseError(f"{agent} comes in, and the room can be {_either(self.rooms)}; name it.")
        else:
            raise ParseError(f"{agent} comes back but has left no room.")
        self._go(agent, room)

    def _go(self, agent: str, room: str) -> None:
        here = self.where.get(agent)
        if here == room:
            raise ParseError(f"{agent} is in the {room} already.")
        self._add(PlotEvent(EventKind.ENTER, agent=agent, room=room))
        self.where[agent] = room
        if here is not None:
            self.left[agent] = here

    def _depart(self, clause: Clause, agent: str) -> None:
        """Add that somebody goes out to another place; it is a room of the story if that is named elsewhere."""
        self._exit(clause, agent)
        if clause.noun("place") in self.nouns.rooms:
            self._go(agent, clause.noun("place"))

    def _stay(self, clause: Clause, agent: str) -> None:
        room, here = self._room(clause, agent), self.where.get(agent)
        if here is None and clause.kind == "is_in" and agent not in self.left:
            self._add(PlotEvent(EventKind.IS_IN, agent=agent, room=room))
            self.where[agent] = room
        elif self._be_present(agent, room) != room:
            raise ParseError(f"{agent} is in the {here}, not in the {room}.")

    def _exit(self, clause: Clause, agent: str) -> None:
        self._check_idle(clause)
        here = self.where.get(agent)
        room = self._room(clause, agent) if "room" in clause.slots else self._be_present(agent, None)
        if self._be_present(agent, room) != room:
            raise ParseError(f"{agent} is in the {here}, not in the {room}.")
        self._add(PlotEvent(EventKind.EXIT, agent=agent, room=room))
        self.where[agent], self.left[agent] = None, room

    def _place(self, clause: Clause, people: Sequence[str]) -> None:
        """Add that something is in a container; people who see it there are in the room."""
        thing, container = clause.noun("thing"), clause.noun("container")
        room = self._room(clause, "") if "room" in clause.slots else self.homes.get(container)
        for agent in people:
            room = self._be_present(agent, room)
        before = self.places.get(thing)
        if before is not None:
            room = room or before[0]
            if before[1] != container or (before[0] or room) != room:
                raise ParseError(f"the {thing} is in the {before[1]}, and nobody moved it.")
        self._put(PlotEvent(EventKind.PLACE, thing=thing, container=container, room=room))

    def _handle(self, clause: Clause, agent: str) -> None:
        """Add that somebody puts something somewhere, which is a move if it was somewhere before."""
        thing, container = clause.noun("thing"), clause.noun("container")
        before = self.places.get(thing)
        if before is None and clause.kind == "move":
            raise ParseError(f"the story does not say where the {thing} was before.")
        if before is not None and "from" in clause.slots and before[1] != clause.noun("from"):
            raise ParseError(f"the {thing} is in the {before[1]}, not in the {clause.noun('from')}.")
        room = self._be_present(agent, (before[0] if before else None) or self.homes.get(container))
        if before is None:
            self._put(PlotEvent(EventKind.PLACE, thing=thing, container=container, room=room))
            return
        if before[0] not in (None, room):
            raise ParseError(f"the {thing} is in the {before[0]}, and {agent} in the {room}.")
        if before[1] == container and clause.kind == "put":
            raise ParseError(f"the {thing} is in the {container} already.")
        self._put(PlotEvent(EventKind.MOVE, agent=agent, thing=thing, container=container, room=room))

    def _tell(self, clause: Clause, agent: str) -> None:
        """Add that somebody says where something is."""
        here, hearer = self._be_present(agent, None), clause.slots.get("hearer", "").replace(" ", "_") or None
        if hearer is not None and self._be_present(hearer, here) != here:
            raise ParseError(f"{agent} is in the {here}, and {hearer} in the {self.where[hearer]}.")
        kind, thing = EventKind[clause.kind.upper()], clause.noun("said")
        if thing not in self.places:
            raise ParseError(f"the story does not say where the {thing} is.")
        self._add(PlotEvent(kind, agent=agent, thing=thing, container=clause.noun("container"), hearer=hearer))

    def _put(self, event: PlotEvent) -> None:
        if event.room is not None:
            self.homes.setdefault(str(event.container), event.room)
            if str(event.container) in self.told:
                self._settle(str(event.container), event.room)
        self.places[str(event.thing)] = event.room, str(event.container)
        self._add(event)

    def _settle(self, container: str, room: str) -> None:
        self.told.add(container)
        if self.homes.setdefault(container, room) != room:
            raise ParseError(f"the {container} is in the {self.homes[container]}, not in the {room}.")

    def _told_room(self, event: PlotEvent) -> str | None:
        is_told = event.kind in (EventKind.PLACE, EventKind.MOVE) and event.container in self.told
        return self.homes[str(event.container)] if is_told else None

    def lines(self) -> list[tuple[int, str]]:
        """Return plain sentences with the numbers of those they are from, after reading them back.

        Raises:
            ParseError: If they would be read in another way, or cannot happen.
        """
        numbered = [*((0, event) for event in self.present), *self.events]
        events = [
            event._replace(room=event.room or self._told_room(event))  # it may be told after its use
            for _, event in numbered
        ]
        if not any(event.kind == EventKind.PLACE for event in events):
            raise ParseError("the story does not say where anything is.")
        resolved = tomi_text.resolve_rooms(list(events))
        plain = [
            _plain(event._replace(room=event.room or other.room)) for event, other in zip(events, resolved, strict=True)
        ]
        is_told = any(event.kind in MESSAGES for event in events)
        for lines in (plain,) if is_told else ([tomi_text.narrate_sentence(event) for event in events], plain):
            back = read_story("\n".join(lines)).events
            if all(_is_same(one, other) for one, other in zip(events, back, strict=True)):
                if problems := plot_problems(back, tells_rooms=False):
                    raise ParseError(f"this cannot happen: {problems[0][1]}.")
                return [(number, line) for (number, _), line in zip(numbered, lines, strict=True)]
        raise ParseError("it is not clear in which rooms things are.")


def _either(rooms: Iterable[str]) -> str:
    return " or ".join(f"the {room}" for room in sorted(rooms))


def _plain(event: PlotEvent) -> str:
    """Return a sentence of an event; placings with their rooms, where they are known."""
    if event.kind in MESSAGES or (event.kind == EventKind.PLACE and event.room is not None):
        return find_wording("en").narrate([event])[0]
    return tomi_text.narrate_sentence(event)


def _is_same(event: PlotEvent, back: PlotEvent) -> bool:
    """Return whether an event was read back; a room that was not known may have been inferred."""
    return event == back or (event.room is None and event == back._replace(room=None))
