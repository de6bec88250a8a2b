"""How each sentence of a story is put: which paraphrase, which connective or time, and whether a pronoun will do.

A pronoun stands only for who acted in the sentence before, and only if it can mean nobody else: of all people
mentioned so far whom it fits, no other could do now what the sentence says.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays, Small
from storyproof.families.belief.language.pack import KEYS, NARRATIVE, PLAIN, TOMI, LanguagePack
from storyproof.families.belief.world import IDLE, MESSAGES, EventKind
from storyproof.generation.seeds import Draws

Picked = npt.NDArray[np.intp]

BY_NAME, BY_PRONOUN, SILENT = range(3)
NO_PREFIX = -1
_FIRST_LIE = KEYS.index("tell lie")
_PLACE = KEYS.index("place")
_KEY_OF_KIND = np.array(
    [KEYS.index("like" if kind == EventKind.FEEL else kind.name.lower()) for kind in EventKind], np.int8
)
# Sentences that may follow a connective: those in which somebody does something.
_ACTS = tuple(kind for kind in EventKind if kind not in (*IDLE, EventKind.PLACE))
_TIME_IN = 6  # one in this number of sentences says that it has got later
_FIRST_TIMES = 3  # a story begins at one of this number of times
_CONNECTED_IN = 5  # of this number of sentences two begin with a connective
_PRONOUN_IN = 5  # of this number of sentences that could have a pronoun, all but one do


@dataclass(frozen=True, slots=True)
class Choices:
    """How sentences are put, [time, story].

    Attributes:
        key: What kind of sentence, a place in `KEYS`.
        variant: Which of its templates, see `templates_of`.
        prefix: The number of the connective or, after those, of the time; NO_PREFIX if there is none.
        subject: BY_NAME, BY_PRONOUN or SILENT.
    """

    key: Small
    variant: Small
    prefix: npt.NDArray[np.int16]
    subject: Small


def sentence_keys(stories: PlotArrays, lie: Flags) -> Small:
    """Return what kind of sentence each event needs, [time, story]."""
    kind = stories.kind.view(np.int8)
    key = _KEY_OF_KIND.take(kind)
    lies = lie & (kind >= min(MESSAGES)) & (kind <= max(MESSAGES))
    keys: Small = np.where(lies, kind - np.int8(EventKind.TELL) + np.int8(_FIRST_LIE), key).astype(np.int8)
    return keys


def choose(pack: LanguagePack, style: str, stories: PlotArrays, lie: Flags, is_female: Flags, draws: Draws) -> Choices:
    """Choose how to put all sentences of some stories.

    Args:
        pack: The language.
        style: The style.
        stories: The plots.
        lie: Which messages are called lies, [time, story].
        is_female: The gender of each agent, [agent, story].
        draws: The source of randomness.
    """
    key = sentence_keys(stories, lie)
    shape = key.shape
    none = np.zeros(shape, np.int8)
    no_prefix = np.full(shape, NO_PREFIX, np.int16)
    if style == PLAIN:
        return Choices(key, none, no_prefix, none)
    if style == TOMI:
        last = len(pack.sentences["place", NARRATIVE]) + 1
        return Choices(key, np.where(_finds_room(stories), np.int8(last), none), no_prefix, none)
    counts = np.array([len(pack.sentences[name, NARRATIVE]) for name in KEYS])
    size = key.size
    variant = 1 + draws.below(counts[key].reshape(-1), size).reshape(shape)
    prefix = _choose_prefixes(pack, key, draws)
    subject = _choose_subjects(pack, stories, is_female, draws)
    return Choices(key, variant.astype(np.int8), prefix, subject)


def _choose_prefixes(pack: LanguagePack, key: Small, draws: Draws) -> npt.NDArray[np.int16]:
    """Choose a time for the first sentence and now and then later, and connectives between."""
    count = key.shape[1]
    connectives, times = len(pack.connectives), len(pack.times)
    starts = draws.below(_FIRST_TIMES, count)
    passes = (draws.below(_TIME_IN, key.size) == 0).reshape(key.shape)
    passes[:1] = True
    clock = starts + np.cumsum(passes, axis=0) - 1
    timed = passes & (clock < times)
    connected = (draws.below(_CONNECTED_IN, key.size) < 2).reshape(key.shape) & np.isin(key, _act_keys())
    step = draws.below(connectives - 1, key.size).reshape(key.shape)
    # Each connective differs from the one before.
    which = np.cumsum(1 + step, axis=0) % connectives
    prefix = np.where(timed, connectives + clock, np.where(connected, which, NO_PREFIX))
    return prefix.astype(np.int16)


def _act_keys() -> list[int]:
    return [*(int(_KEY_OF_KIND[kind]) for kind in _ACTS), *range(_FIRST_LIE, len(KEYS))]


def _choose_subjects(pack: LanguagePack, stories: PlotArrays, is_female: Flags, draws: Draws) -> Small:
    """Choose where a pronoun stands for somebody, or nothing where the language can do without."""
    steps, count = stories.kind.shape
    wanted = (draws.below(_PRONOUN_IN, stories.kind.size) > 0).reshape(stories.kind.shape)
    subjects = np.zeros((steps, count), np.int8)
    world = _World(stories)
    for time in range(steps):
        if time:
            agent = stories.agent[time]
            repeats = (agent == stories.agent[time - 1]) & (agent != NOBODY) & wanted[time]
            picked = np.flatnonzero(repeats & (stories.kind[time] > EventKind.FEEL))
            subjects[time, picked] = _subjects_at(world, time, picked, is_female, pack.grammar.is_silent)
        world.advance(time)
    return subjects


def _subjects_at(world: _World, time: int, picked: Picked, is_female: Flags, can_be_silent: bool) -> Small:
    """Return how some stories can refer at a time to the one who acted before."""
    able = world.able(time, picked) & world.mentioned[:, picked]
    female = is_female[:, picked]
    row = world.stories.agent[time, picked], np.arange(len(picked))
    fits = able[row]
    alone_of_gender = (able & (female == female[row])).sum(axis=0) == 1
    subjects = np.where(fits & alone_of_gender, np.int8(BY_PRONOUN), np.int8(BY_NAME))
    if can_be_silent:
        subjects = np.where(fits & (able.sum(axis=0) == 1), np.int8(SILENT), subjects)
    return subjects


class _World:
    """Who is where and does what in some stories, to see who could do what comes next; compare `PlotState`."""

    def __init__(self, stories: PlotArrays) -> None:
        self.stories = stories
        self.agents, self.count = stories.agents, stories.kind.shape[1]
        self.columns = np.arange(self.count)
        self._rows = np.arange(self.agents)[:, None]
        self.room = self._empty(self.agents)
        self.watched = self._empty(self.agents)
        self.distracted = np.zeros((self.agents, self.count), np.bool_)
        self.mentioned = np.zeros((self.agents, self.count), np.bool_)
        self.lies_in = self._empty(int(stories.thing.max(initial=0)) + 1)  # the room of each object
        self.stands_in = self._empty(int(stories.container.max(initial=0)) + 1)  # the room of each container

    def _empty(self, rows: int) -> Small:
        return np.full((rows, self.count), NOBODY, np.int8)

    def able(self, time: int, picked: Picked) -> Flags:
        """Return who could do what happens at a time in some stories, [agent, story]."""
        plots = self.stories
        kind, asked, hearer = plots.kind[time, picked], plots.room[time, picked], plots.hearer[time, picked]
        room, watched = self.room[:, picked], self.watched[:, picked]
        inside, distracted = room >= 0, self.distracted[:, picked]
        heeds = ~distracted
        lies_in = self.lies_in[np.maximum(plots.thing[time, picked], 0), picked]
        stands_in = self.stands_in[np.maximum(plots.container[time, picked], 0), picked]
        to = np.maximum(hearer, 0), np.arange(len(picked))
        beside = (room == room[to]) & (self._rows != hearer) & heeds[to]
        company = np.zeros_like(inside)
        for row in range(1, self.agents):
            company |= (room == np.roll(room, row, axis=0)) & np.roll(heeds, row, axis=0)
        can_move = (room == lies_in) & ((stands_in == NOBODY) | (stands_in == lies_in))
        speaks = heeds & inside & (lies_in != NOBODY)
        walks = heeds & (watched == NOBODY)
        is_able = np.zeros_like(inside)
        for which, possible in (
            (EventKind.IS_IN, (room == asked) | (walks & ~inside)),
            (EventKind.ENTER, walks & (room != asked)),
            (EventKind.EXIT, walks & inside & (room == asked)),
            (EventKind.MOVE, inside & heeds & can_move),
            (EventKind.PEEK, heeds & inside & (room != asked) & (watched == NOBODY)),
            (EventKind.UNPEEK, heeds & (watched != NOBODY)),
            (EventKind.DISTRACT, heeds & inside),
            (EventKind.ATTEND, distracted),
            (EventKind.TELL, speaks & company),
            (EventKind.WHISPER, speaks & beside),
            (EventKind.ANNOUNCE, speaks),
        ):
            is_able |= (kind == which) & possible
        return is_able

    def advance(self, time: int) -> None:
        """Let happen what happens at a time."""
        plots, kind, columns = self.stories, self.stories.kind[time], self.columns
        agent, room = plots.agent[time], plots.room[time]
        for name in (agent, plots.hearer[time]):
            self.mentioned[np.maximum(name, 0), columns] |= name != NOBODY
        acts = agent != NOBODY
        who = np.maximum(agent, 0)
        enters = acts & ((kind == EventKind.ENTER) | (kind == EventKind.IS_IN))
        walks = enters | (acts & (kind == EventKind.EXIT))
        here, watched, away = self.room[who, columns], self.watched[who, columns], self.distracted[who, columns]
        self.room[who, columns] = np.where(enters, room, np.where(walks, np.int8(NOBODY), here))
        peeks = acts & (kind == EventKind.PEEK)
        looks_off = acts & (kind == EventKind.UNPEEK)
        self.watched[who, columns] = np.where(peeks, room, np.where(looks_off, np.int8(NOBODY), watched))
        heeds = acts & (kind == EventKind.ATTEND)
        self.distracted[who, columns] = (away | (acts & (kind == EventKind.DISTRACT))) & ~heeds
        puts = (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
        thing, container = np.maximum(plots.thing[time], 0), np.maximum(plots.container[time], 0)
        self.lies_in[thing, columns] = np.where(puts, room, self.lies_in[thing, columns])
        stands = self.stands_in[container, columns]
        self.stands_in[container, columns] = np.where(puts & (stands == NOBODY), room, stands)


def _finds_room(stories: PlotArrays) -> Flags:
    """Return which placings need not name their room, [time, story], because ToMi's rule finds it.

    The rule is that of `tomi_text.parse`. Where it is not clear at once that it finds the room,
    the room is named.
    """
    steps, count = stories.kind.shape
    columns = np.arange(count)
    world = _World(stories)
    entered = np.full(count, NOBODY, np.int8)
    known = np.zeros((int(stories.container.max(initial=0)) + 1, count), np.bool_)
    moved_later = np.zeros((steps, count), np.bool_)
    moves = np.zeros((int(stories.thing.max(initial=0)) + 1, count), np.bool_)
    for time in range(steps - 1, -1, -1):
        thing = np.maximum(stories.thing[time], 0)
        moved_later[time] = moves[thing, columns]
        moves[thing, columns] |= stories.kind[time] == EventKind.MOVE
    is_clear = np.zeros((steps, count), np.bool_)
    for time in range(steps):
        kind, room = stories.kind[time], stories.room[time]
        container = np.maximum(stories.container[time], 0)
        is_new = world.lies_in[np.maximum(stories.thing[time], 0), columns] == NOBODY
        seen = moved_later[time] & (world.room == room).any(axis=0)
        follows = ~known[container, columns] & ~moved_later[time] & (entered == room)
        is_clear[time] = (kind == EventKind.PLACE) & is_new & (seen | follows)
        known[container, columns] |= stories.container[time] != NOBODY
        entered = np.where(kind == EventKind.ENTER, room, entered)
        world.advance(time)
    return is_clear
