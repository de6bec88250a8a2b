"""Answer belief questions from the printed prompt alone: no import of the project, no hidden knowledge.

The solver reads which rule sentences are printed and applies only these. Where a sentence is missing it does what the
comment of that rule (`Rule`) states: what a reader may assume who has not read the sentence. The reading is lazy: the
story is replayed once, and what a chain of people believes is the latest that they noticed together.
"""

import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, cached_property
from itertools import pairwise, product


class Rule(Enum):
    """A rule sentence; the comment says what the solver does where the sentence is not printed."""

    # Everybody notices all that the story tells, wherever they are.
    SEE = (
        "Everyone who is in a room, or enters it, sees who and what is in it, also inside containers, and notices "
        "nothing that happens in other rooms."
    )
    # The room that the story mentioned last.
    ROOM = "If the story does not say in which room an object is, it is in the room of the person who moves it next."
    # One sees the watched room, but does not hear what is said in it.
    WATCH = (
        "Someone who secretly watches a room notices everything there as if they were in it, besides everything in "
        "their own room, until the story says that they stop."
    )
    # Nobody elsewhere knows ("secretly"), but people in the room where somebody begins to watch notice it.
    UNWATCHED = "Nobody else knows about the watching: for all others, a secret watcher is not there."
    # A distracted person does not look, but still hears, and looks again as soon as they walk.
    DISTRACTED = "Someone who is distracted notices nothing until the story says that they pay attention again."
    # Everybody can tell that somebody is distracted.
    UNTOLD = "Nobody else can tell that someone is distracted: for all others, that person notices everything."
    # From then on one notices what happens, but has not seen the room anew.
    ATTEND = "Someone who pays attention again sees the room as it is then."
    # Secret watchers of the room overhear private words.
    WORDS_PRIVATE = "Words in private are heard only by the two people concerned; nobody else notices them."
    # Announcements reach everybody, also people who are in no room.
    WORDS_EVERYWHERE = "Announcements to everybody everywhere are heard by everyone who is in any room at that time."
    # People trust their eyes: words count only for those who never saw the object.
    LATEST = "People believe the latest that they saw or were told about where an object is, and look for it there."
    # Hearers also believe words about what they see.
    OWN_EYES = "But nobody believes words about an object that they can see at that moment."
    # Others always know that somebody sees the object.
    OTHERS_EYES = "Others take this into account only if they see the object too."
    # People know what the others believe.
    PAIR_SEEN = (
        "People think that someone else believes an object to be where both of them last saw it together, and draw no "
        "other conclusions about what others believe."
    )
    PAIR_LATEST = (
        "People think that someone else believes the latest that both of them saw or heard together about where an "
        "object is."
    )
    CHAIN_SEEN = (
        "What one person thinks that a second thinks that a third believes, and so on, is where all of them last saw "
        "the object together; nobody draws any other conclusions about what others believe."
    )
    CHAIN_LATEST = (
        "What one person thinks that a second thinks that a third believes, and so on, is the latest that all of them "
        "saw or heard together about where the object is."
    )
    # Words show nothing about what the speaker believes.
    SPEAKERS = (
        "Hearers think that speakers believe what they say, whether it is true or not, unless they see the object "
        "together."
    )
    # Who comes back to an object that has been moved thinks that the one person who had stayed with it knows.
    NO_MORE = "Nobody draws any other conclusions about what others believe."
    # Only who has seen the object since it came there knows where it is.
    KNOWS = "Someone knows where an object is if what they believe about it is right."
    # It is enough to be right about the object and to think that the other believes something else.
    KNOWS_WRONG = (
        "Someone knows that another person is wrong if that person's belief is wrong, and they themselves are right "
        "both about where the object is and about what that person believes."
    )
    # What each of them believes.
    COMMON = (
        "Several people commonly believe something if all of them believe it, all of them think that all of them "
        "believe it, and so on."
    )
    # Who lied about the object repeats the lie.
    ASKED = "Asked where an object is, people say what they believe, also those who lied before."
    # One knows oneself: what one thinks that one believes is what one believes.
    OTHER_THAN = "The question is about people other than *."
    # Hearers believe every speaker.
    FRESHER = (
        "But hearers do not believe a speaker if, as far as they know, they have seen the object more recently than "
        "the speaker."
    )
    # Who leaves a room does not look back.
    LEAVING = "Someone who leaves a room knows who stays there."
    # Others think that every speaker is believed, and that nobody is caught.
    OTHERS_TRUST = "Others take this into account as far as they know who saw the object when."
    # Hearers believe every speaker.
    HI_TOM = (
        "But hearers believe only speakers who were with the object later than they were, and only then think that "
        "these believe what they say."
    )
    # People know only what they noticed.
    TIMES = "Everybody knows who was in which room at what time."
    # Hearers believe every speaker.
    NEVER_LIARS = (
        "But someone who has caught a speaker lying never believes that speaker again, and no longer thinks that the "
        "speaker believes what they say."
    )
    # Hearers catch speakers only on words about an object that they both can see.
    CATCH = (
        "Hearers catch a speaker who says something other than what they think that the speaker believes, if they "
        "have seen the object more recently than the speaker, or if both can see it."
    )


SENTENCES = {rule.value: rule for rule in Rule}


def rule_of(sentence: str) -> Rule:
    """The rule that a printed sentence states; unknown sentences are an error."""
    if sentence.startswith("The question is about people other than "):
        return Rule.OTHER_THAN
    return SENTENCES[sentence]


@dataclass(frozen=True)
class Event:
    """One sentence of the story; `kind` tells which of the other fields are set."""

    kind: str
    who: str = ""
    room: str = ""
    thing: str = ""
    place: str = ""
    hearer: str = ""  # the one hearer of private words; "room" or "everywhere" otherwise
    lie: bool = False


EVENTS: tuple[tuple[str, str], ...] = (
    ("enter", r"(?P<who>\w+) entered the (?P<room>\w+)\."),
    ("enter", r"(?P<who>(?!The )\w+) is in the (?P<room>\w+)\."),
    ("exit", r"(?P<who>\w+) exited the (?P<room>\w+)\."),
    ("put", r"The (?P<thing>\w+) (?:is|are) in the (?P<place>\w+)(?: in the (?P<room>\w+))?\."),
    ("move", r"(?P<who>\w+) moved the (?P<thing>\w+) to the (?P<place>\w+)\."),
    ("watch", r"(?P<who>\w+) secretly began to watch the (?P<room>\w+)\."),
    ("unwatch", r"(?P<who>\w+) stopped watching\."),
    ("distract", r"(?P<who>\w+) got distracted\."),
    ("attend", r"(?P<who>\w+) paid attention again\."),
    (
        "say",
        r"(?P<who>\w+) (?:(?P<lie>lied to)|told|(?=announced)) ?"
        r"(?:announced (?P<all>everywhere)|everybody (?:in the )?(?P<to>room|everywhere)|(?P<hearer>\w+) in private)"
        r"(?: and said)? that the (?P<thing>\w+) (?:is|are) in the (?P<place>\w+)\.",
    ),
    ("noise", r"Phone rang\.|(?P<who>\w+) (?:likes|loves|hates|dislikes) the (?P<thing>\w+)\."),
)
IS = "(?:is|are|was|were)"
QUESTIONS: tuple[tuple[str, str], ...] = (
    ("beginning", rf"Where {IS} the (?P<thing>\w+) at the beginning\?"),
    ("really", rf"Where {IS} the (?P<thing>\w+) really\?"),
    ("belief", r"Where will (?P<last>\w+) look for the (?P<thing>\w+)\?"),
    ("belief", r"Where does (?P<chain>.*) thinks? that (?P<last>\w+) searches for the (?P<thing>\w+)\?"),
    ("who", rf"Who (?:(?P<chain>thinks that .*) )?believes that the (?P<thing>\w+) {IS} in the (?P<place>\w+)\?"),
    ("knows wrong", rf"Does (?P<last>\w+) know that (?P<other>\w+) is wrong about where the (?P<thing>\w+) {IS}\?"),
    ("knows", rf"Does (?P<last>\w+) know where the (?P<thing>\w+) {IS}\?"),
    ("common", r"Where do (?P<chain>.*) commonly believe the (?P<thing>\w+) to be\?"),
    ("say", rf"What would (?P<last>\w+) say if asked where the (?P<thing>\w+) {IS}\?"),
)
NO_NAMES = {"think", "thinks", "that", "and"}


@dataclass(frozen=True)
class Question:
    """A question: its kind, the people in it in their order, the object, and the place where one is named."""

    kind: str
    people: tuple[str, ...]
    thing: str
    place: str = ""


@dataclass(frozen=True)
class Prompt:
    """The three parts of a printed prompt."""

    rules: tuple[str, ...]
    story: tuple[Event, ...]
    question: Question

    def without(self, rule: Rule) -> "Prompt":
        """The same prompt with one rule sentence left out."""
        return Prompt(tuple(s for s in self.rules if rule_of(s) != rule), self.story, self.question)


def match(forms: tuple[tuple[str, str], ...], line: str) -> tuple[str, dict[str, str]]:
    """The kind and the named parts of a sentence."""
    for kind, form in forms:
        if found := re.fullmatch(form, line):
            return kind, {name: text or "" for name, text in found.groupdict().items()}
    raise ValueError(f"unknown sentence: {line}")


@cache
def parse_event(line: str) -> Event:
    """One sentence of the story."""
    kind, part = match(EVENTS, line)
    if kind == "say":
        part["hearer"] = part["hearer"] or part.pop("all", "") or part.pop("to", "")
    fields = {name: part[name] for name in ("who", "room", "thing", "place", "hearer") if name in part}
    return Event(kind, **fields, lie=bool(part.get("lie")))


def parse(text: str) -> Prompt:
    """Read a printed prompt."""
    head, rest = text.split("\nStory:\n")
    story, question = rest.split("\n\nQuestion: ")
    kind, part = match(QUESTIONS, question.split("\n")[0])
    people = [w for w in re.findall(r"\w+", part.get("chain", "")) if w not in NO_NAMES]
    people += [part[name] for name in ("last", "other") if part.get(name)]
    return Prompt(
        tuple(line[2:] for line in head.split("\n") if line.startswith("- ")),
        tuple(parse_event(line) for line in story.split("\n")),
        Question(kind, tuple(people), part["thing"], part.get("place", "")),
    )


@dataclass
class State:
    """What is true after an event."""

    at: dict[str, str] = field(default_factory=dict)  # person -> room
    watching: dict[str, str] = field(default_factory=dict)  # person -> watched room
    distracted: set[str] = field(default_factory=set)
    room: dict[str, str] = field(default_factory=dict)  # object -> room
    place: dict[str, str] = field(default_factory=dict)  # object -> container
    unseen: set[tuple[str, str]] = field(default_factory=set)  # (person, object) in the room, but not looked at
    betrayed: set[tuple[str, str]] = field(default_factory=set)  # (person, watcher): noticed the watching begin

    def copy(self) -> "State":
        """A copy for the next moment."""
        return State(
            dict(self.at),
            dict(self.watching),
            set(self.distracted),
            dict(self.room),
            dict(self.place),
            set(self.unseen),
            set(self.betrayed),
        )


Chain = tuple[str, ...]  # ("Ann", "Bob"): what Ann thinks that Bob believes


class Solver:
    """Follow the printed rules through one story."""

    def __init__(self, story: tuple[Event, ...], *, rules: AbstractSet[Rule]) -> None:
        self.story = story
        self.rules = rules
        self.states = self._replay()
        self.belief = cache(self._belief)
        self.last_seen = cache(self._last_seen)
        self.caught = cache(self._caught)

    @cached_property
    def people(self) -> list[str]:
        """Everybody in the story who ever enters a room, sorted."""
        return sorted({e.who for e in self.story if e.kind == "enter"})

    # What happens.

    def _replay(self) -> list[State]:
        states = [State()]  # states[0] is before the story; states[t] is after event t (counted from 1)
        mentioned = ""
        for index, e in enumerate(self.story):
            s = states[-1].copy()
            mentioned = e.room if e.kind in ("enter", "exit", "put") and e.room else mentioned
            if e.kind in ("enter", "exit"):
                s.at.pop(e.who, None)
                if Rule.DISTRACTED not in self.rules:
                    s.distracted.discard(e.who)
                if e.kind == "enter":
                    s.at[e.who] = e.room
                    self._look(s, e.who, new=True)
            elif e.kind in ("put", "move"):
                s.place[e.thing] = e.place
                if e.kind == "move":
                    s.room[e.thing] = s.at[e.who]
                else:
                    s.room[e.thing] = e.room or self._room_of_next_mover(index, e.thing, s) or mentioned
                s.unseen -= {(who, e.thing) for who in s.at if who not in s.distracted}
            elif e.kind == "watch":
                s.watching[e.who] = e.room
                s.betrayed -= {pair for pair in s.betrayed if pair[1] == e.who}
                s.betrayed |= {
                    (p, e.who) for p, room in s.at.items() if room == s.at.get(e.who) and p not in s.distracted
                }
            elif e.kind == "unwatch":
                s.watching.pop(e.who, None)
            elif e.kind == "distract":
                s.distracted.add(e.who)
            elif e.kind == "attend":
                s.distracted.discard(e.who)
                self._look(s, e.who, new=Rule.ATTEND in self.rules)
            states.append(s)
        return states

    @staticmethod
    def _look(s: State, who: str, new: bool) -> None:
        for thing in s.room:
            (s.unseen.discard if new else s.unseen.add)((who, thing))

    def _room_of_next_mover(self, index: int, thing: str, s: State) -> str:
        if Rule.ROOM not in self.rules:
            return ""
        at = dict(s.at)
        for e in self.story[index + 1 :]:
            if e.kind == "enter":
                at[e.who] = e.room
            elif e.kind == "exit":
                at.pop(e.who, None)
            elif e.kind == "move" and e.thing == thing:
                return at[e.who]
            elif e.kind == "put" and e.thing == thing:
                break
        return ""

    # Who notices what.

    def rooms(self, chain: Chain, t: int, hearing: bool = False) -> set[str]:
        """The rooms in which the last of the chain notices things, as the others of the chain think."""
        s = self.states[t]
        *others, who = chain
        absent = who in s.distracted and (Rule.DISTRACTED in self.rules or not hearing)
        if absent and (not others or Rule.UNTOLD not in self.rules):
            return set()
        if Rule.SEE not in self.rules:
            return {*s.at.values(), *s.room.values()}
        found = {s.at[who]} if who in s.at else set()
        secret = others and (Rule.UNWATCHED in self.rules or not all((p, who) in s.betrayed for p in others))
        if who in s.watching and not secret and (Rule.WATCH in self.rules or not hearing):
            found.add(s.watching[who])
        return found

    def sees(self, chain: Chain, thing: str, t: int) -> bool:
        """Whether the last of the chain sees the object after event t, as the others of the chain think."""
        s = self.states[t]
        return s.room.get(thing, "-") in self.rooms(chain, t) and (chain[-1], thing) not in s.unseen

    def together(self, chain: Chain, thing: str, t: int) -> bool:
        """Whether all of the chain see the object, as the first of them thinks."""
        return all(self.sees(chain[:n], thing, t) for n in range(1, len(chain) + 1))

    def heard(self, chain: Chain, e: Event, t: int) -> bool:
        """Whether all of the chain hear the words, as the first of them thinks."""
        return all(who == e.who or self._hears(chain[:n], e, t) for n, who in enumerate(chain, 1))

    def _hears(self, chain: Chain, e: Event, t: int) -> bool:
        s = self.states[t]
        who, first = chain[-1], len(chain) == 1
        rooms = self.rooms(chain, t, hearing=True)
        if e.hearer == "room":
            return s.at[e.who] in rooms
        if e.hearer == "everywhere":
            return bool(rooms) or (who not in s.at and Rule.WORDS_EVERYWHERE not in self.rules)
        if who == e.hearer:
            return bool(rooms)
        return first and s.watching.get(who) == s.at[e.who] in rooms and Rule.WORDS_PRIVATE not in self.rules

    def _last_seen(self, chain: Chain, thing: str, t: int) -> int:
        """When all of the chain last saw the object together (0: never), also by seeing who stays with it."""
        for u in range(t, 0, -1):
            if self.together(chain, thing, u):
                return u
            e = self.story[u - 1]
            left = Rule.LEAVING in self.rules and e.kind == "exit" and e.who in chain[:-1] and e.who != chain[-1]
            if left and all(self.sees(chain[:n], thing, u - (who == e.who)) for n, who in enumerate(chain, 1)):
                return u
        return 0

    def _last_with(self, who: str, thing: str, t: int) -> int:
        """When the person was last in the room of the object (0: never)."""
        for u in range(t, 0, -1):
            s = self.states[u]
            if who in s.at and s.at[who] == s.room.get(thing):
                return u
        return 0

    # Whom people believe.

    def _caught(self, chain: Chain, speaker: str, t: int) -> bool:
        """Whether the last of the chain has caught the speaker lying by now, as the others of the chain think."""
        if Rule.NEVER_LIARS not in self.rules or (len(chain) > 1 and Rule.OTHERS_TRUST not in self.rules):
            return False
        pair = (*chain, speaker)
        for u in range(t, 0, -1):
            e = self.story[u - 1]
            if e.kind == "say" and e.who == speaker and self.heard(chain, e, u):
                fresher = self.last_seen(chain, e.thing, u) > self.last_seen(pair, e.thing, u)
                if Rule.CATCH not in self.rules:
                    fresher = False
                if fresher or self.together(pair, e.thing, u):
                    thought = self.belief(pair, e.thing, u - 1)
                    if thought is not None and thought != e.place:
                        return True
        return False

    def accepts(self, chain: Chain, e: Event, t: int) -> bool:
        """Whether words change what the chain believes."""
        r = self.rules
        last, speaker = chain[-1], e.who
        if not self.heard(chain, e, t):
            return False
        if chain == (speaker,):
            return not e.lie
        if last == speaker:
            if Rule.HI_TOM in r:
                return self._later(chain[:-1], e, t)
            if Rule.SPEAKERS not in r or self.together(chain, e.thing, t):
                return False
            return not self.caught(chain[:-1], speaker, t)
        if Rule.LATEST not in r and self.last_seen(chain, e.thing, t):
            return False
        if Rule.OWN_EYES in r:
            if self.together(chain, e.thing, t):
                return False
            if Rule.OTHERS_EYES not in r and self.sees(chain, e.thing, t):
                return False
        if Rule.HI_TOM in r:
            return self._later(chain, e, t)
        fresher = Rule.FRESHER in r and (len(chain) == 1 or Rule.OTHERS_TRUST in r)
        if fresher and self.last_seen(chain, e.thing, t) > self.last_seen((*chain, speaker), e.thing, t):
            return False
        return not self.caught(chain, speaker, t)

    def _later(self, chain: Chain, e: Event, t: int) -> bool:
        if Rule.TIMES in self.rules:
            return self._last_with(e.who, e.thing, t) > self._last_with(chain[-1], e.thing, t)
        return self.last_seen((*chain, e.who), e.thing, t) > self.last_seen(chain, e.thing, t)

    # What people believe.

    def _belief(self, chain: Chain, thing: str, t: int) -> str | None:
        """Where the last of the chain believes the object to be, as the others of the chain think."""
        pairs = {Rule.PAIR_SEEN, Rule.PAIR_LATEST, Rule.CHAIN_SEEN, Rule.CHAIN_LATEST}
        closing = {Rule.PAIR_SEEN, Rule.CHAIN_SEEN, Rule.NO_MORE}
        if len(chain) > 1 and not pairs & self.rules:
            chain = chain[-1:]
        for u in range(t, 0, -1):
            e = self.story[u - 1]
            about = e.thing == thing
            shown = (about and e.kind in ("put", "move")) or not self.together(chain, thing, u - 1)
            if shown and self.together(chain, thing, u):
                return self.states[u].place[thing]
            if not closing & self.rules and self._concludes(chain, thing, u):
                return self.states[u].place[thing]
            if about and e.kind == "say" and self.accepts(chain, e, u):
                return e.place
        return None

    def _concludes(self, chain: Chain, thing: str, u: int) -> bool:
        """Whether the first comes back to a moved object with which only the second had stayed."""
        me = chain[0]
        if len(chain) != 2 or not self.together((me,), thing, u) or self.together((me,), thing, u - 1):
            return False
        before = self.belief((me,), thing, u - 1)
        left = next((v for v in range(u - 1, 0, -1) if self.sees((me,), thing, v)), 0)
        if not left or before == self.states[u].place[thing]:
            return False
        s = self.states[left]
        return {who for who, room in s.at.items() if room == s.room[thing] and who != me} == {chain[1]}

    # Answers.

    def answer(self, q: Question) -> str | None:
        """The answer to a question at the end of the story."""
        end = len(self.story)
        real = self.states[end].place[q.thing]
        if q.kind == "beginning":
            return next(e.place for e in self.story if e.kind == "put" and e.thing == q.thing)
        if q.kind == "really":
            return real
        if q.kind == "belief":
            return self.belief(q.people, q.thing, end)
        if q.kind == "say":
            lies = [e.place for e in self.story if (e.kind, e.who, e.thing, e.lie) == ("say", *q.people, q.thing, True)]
            if lies and Rule.ASKED not in self.rules:
                return lies[-1]
            return self.belief(q.people, q.thing, end)
        if q.kind == "knows":
            right = self.belief(q.people, q.thing, end) == real
            if Rule.KNOWS not in self.rules:
                moved = max(t for t, e in enumerate(self.story, 1) if e.thing == q.thing and e.kind in ("put", "move"))
                right = right and self.last_seen(q.people, q.thing, end) >= moved
            return "yes" if right else "no"
        if q.kind == "knows wrong":
            me, other = q.people
            thought = self.belief((me, other), q.thing, end)
            believed = self.belief((other,), q.thing, end)
            right = self.belief((me,), q.thing, end) == real and believed not in (None, real)  # no belief is no error
            right = right and (thought == believed if Rule.KNOWS_WRONG in self.rules else thought != real)
            return "yes" if right else "no"
        if q.kind == "who":
            who = [p for p in self.people if self._in_question(p, q)]
            return ", ".join(who) or "nobody"
        if q.kind == "common":
            depths = (1, 2, 3, 4) if Rule.COMMON in self.rules else (1,)
            chains = [c for n in depths for c in product(q.people, repeat=n) if self._distinct(c)]
            found = {self.belief(c, q.thing, end) for c in chains}
            return found.pop() if len(found) == 1 else None
        raise ValueError(q.kind)

    @staticmethod
    def _distinct(chain: Chain) -> bool:
        return all(a != b for a, b in pairwise(chain))

    def _in_question(self, who: str, q: Question) -> bool:
        chain = (who, *q.people)
        if not self._distinct(chain):
            if Rule.OTHER_THAN in self.rules:
                return False
            chain = chain[1:]
        return self.belief(chain, q.thing, len(self.story)) == q.place


def solve(prompt: Prompt) -> str | None:
    """The answer that the printed rules give."""
    return Solver(prompt.story, rules={rule_of(sentence) for sentence in prompt.rules}).answer(prompt.question)
