"""How each sentence of a story is put: which paraphrase, connective or time, and what it leaves to the one before.

A narrative is a telling. What is new is "a key", what is known "the key"; whoever acts again is "she"; a room or an
object that the sentence before is about need not be named again. All that is left out is that of the sentence before,
by one rule, which is all that a reader needs: `reader.StoryReader`. The text falls into scenes, each of which
begins with a time and names everything.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storyproof.families.belief.arrays import NOBODY, Flags, PlotArrays, Small
from storyproof.families.belief.language.pack import (
    KEYS,
    PLAIN,
    SITUATIONS,
    TOMI,
    LanguagePack,
    templates_of,
)
from storyproof.families.belief.world import IDLE, MESSAGES, EventKind
from storyproof.generation.seeds import Draws

BY_NAME, BY_PRONOUN, SILENT = range(3)
NO_PREFIX = -1
_FIRST_LIE = KEYS.index("tell lie")
_KEY_OF_KIND = np.array(
    [KEYS.index("like" if kind == EventKind.FEEL else kind.name.lower()) for kind in EventKind], np.int8
)
_SITUATIONS = tuple(SITUATIONS)
_USUAL, _BACK, _HERE, _TOO, _BACK_HERE, _KNOWN, _KNOWN_HERE, _IT, _BACK_IT, _HIM = range(len(_SITUATIONS))


def _table(*kinds: EventKind) -> Flags:
    return np.isin(np.arange(len(EventKind)), kinds)


# Sentences that may follow a connective: those in which somebody does something but speak.
_ACTS = _table(*(kind for kind in EventKind if kind not in (*IDLE, *MESSAGES, EventKind.PLACE)))
_IN_ROOM = _table(EventKind.ENTER, EventKind.EXIT, EventKind.PLACE)  # after which a room need not be named again
_OF_THING = _table(EventKind.PLACE, EventKind.MOVE, EventKind.FEEL)  # after which an object need not be
_OF_SCENE = _table(EventKind.ENTER, EventKind.EXIT, EventKind.MOVE)  # which show where the story goes on
_WITHOUT_SUBJECT = _table(EventKind.NOISE, EventKind.PLACE)
_FIRST_TIMES = 4  # a story begins at one of this number of times
_STRIDES = 100  # sentences; stories as long use the times one by one, shorter ones may leave some out
_LONGEST_STRIDE = 3
_SHORTEST_SCENE, _LONG_SCENE = 3, 8  # sentences before a scene elsewhere, and before one that somebody opens
_CONNECTED_IN = 6  # of this number of sentences one begins with a connective
_PRONOUN_IN = 10  # of this number of sentences that could have a pronoun, all but one do


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
        last = len(templates_of(pack, "place")) - 1
        return Choices(key, np.where(_finds_room(stories), np.int8(last), none), no_prefix, none)
    told = _tell(pack, stories, is_female, draws)
    variant = _choose_variants(pack, key, told, draws)
    wanted = (draws.below(_PRONOUN_IN, key.size) > 0).reshape(shape)
    stands = np.int8(SILENT if pack.grammar.is_silent else BY_PRONOUN)
    subject = np.where(told.same_subject & wanted, stands, np.int8(BY_NAME))
    return Choices(key, variant.astype(np.int8), _choose_prefixes(pack, stories, told.time, draws), subject)


def _choose_variants(pack: LanguagePack, key: Small, told: _Telling, draws: Draws) -> npt.NDArray[np.intp]:
    """Choose the sentences; one of a kind and situation is told again only after all others."""
    steps, count = key.shape
    start, pairs = _templates_by_situation(pack)
    place = key.astype(np.intp) * len(SITUATIONS) + told.situation
    following = draws.below(np.repeat(pairs.reshape(-1), count), pairs.size * count).reshape(-1, count)
    variant, columns = np.empty((steps, count), np.intp), np.arange(count)
    for now in range(steps):
        at = place[now], columns
        variant[now] = following[at]
        following[at] = (variant[now] + 1) % pairs.reshape(-1)[place[now]]
    return start[key, told.situation] + 2 * variant + told.is_box_new


def _templates_by_situation(pack: LanguagePack) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return where the sentences of a kind and situation begin, and how many there are, [key, situation]."""
    places = np.array(
        [
            [pack.situations.get((key, situation), pack.situations[key, "usual"]) for situation in SITUATIONS]
            for key in KEYS
        ]
    )
    return places[..., 0], places[..., 1]


def _choose_prefixes(
    pack: LanguagePack, stories: PlotArrays, time: npt.NDArray[np.int16], draws: Draws
) -> npt.NDArray[np.int16]:
    """Choose connectives between the times with which scenes begin."""
    connectives, size = len(pack.connectives), stories.kind.size
    connected = (draws.below(_CONNECTED_IN, size) == 0).reshape(stories.kind.shape) & _ACTS[stories.kind]
    step = draws.below(connectives - 1, size).reshape(stories.kind.shape)
    # Each connective differs from the one before.
    which = np.cumsum(1 + step, axis=0) % connectives
    connected[:1] = False
    prefix = np.where(time >= 0, connectives + time, np.where(connected, which, NO_PREFIX))
    return prefix.astype(np.int16)


@dataclass(frozen=True, slots=True)
class _Telling:
    """What the sentences before say, for each sentence, [time, story].

    Attributes:
        situation: Its situation, a place in `SITUATIONS`.
        is_box_new: Whether its container was not named before.
        same_subject: Whether a pronoun can only mean the subject of the sentence before, who acts again.
        time: The number of the time with which it begins a scene, -1 if it does not.
    """

    situation: Small
    is_box_new: Flags
    same_subject: Flags
    time: npt.NDArray[np.int16]


def _tell(pack: LanguagePack, stories: PlotArrays, is_female: Flags, draws: Draws) -> _Telling:
    """Go through some stories, to see what each sentence can leave to the one before."""
    times, is_silent = len(pack.times), pack.grammar.is_silent
    steps, count = stories.kind.shape
    columns = np.arange(count)
    situation, time = np.zeros((steps, count), np.int8), np.full((steps, count), -1, np.int16)
    is_box_new, same_subject = np.zeros((2, steps, count), np.bool_)
    things, boxes, rooms = (
        max(0, int(names.max(initial=0))) + 1 for names in (stories.thing, stories.container, stories.room)
    )
    has_been = np.zeros((stories.agents, rooms, count), np.bool_)
    was_in = np.zeros((things, boxes, count), np.bool_)
    is_box_known, is_thing_known = np.zeros((boxes, count), np.bool_), np.zeros((things, count), np.bool_)
    stride = 1 + draws.below(min(_LONGEST_STRIDE, 1 + _STRIDES // (steps + 1)), count).astype(np.int16)
    clock = draws.below(_FIRST_TIMES, count).astype(np.int16) - stride
    scene, length = np.full(count, NOBODY, np.int8), np.zeros(count, np.int16)
    began = np.zeros(count, np.bool_)
    no_one = np.full(count, NOBODY, np.int8)
    last_agent = last_room = last_thing = last_hearer = no_one
    last_kind = np.zeros(count, np.uint8)
    for now in range(steps):
        kind, agent, room = stories.kind[now], stories.agent[now], stories.room[now]
        thing, box, hearer = stories.thing[now], stories.container[now], stories.hearer[now]
        who, where, what, into = (np.maximum(each, 0) for each in (agent, room, thing, box))
        # Scenes.
        goes_elsewhere = _OF_SCENE[kind] & (room != scene) & (length >= _SHORTEST_SCENE)
        begins = ~began | goes_elsewhere | ((kind == EventKind.ENTER) & (length >= _LONG_SCENE))
        begins &= _ACTS[kind] & (clock + stride < times)
        clock = clock + stride * begins
        time[now] = np.where(begins, clock, np.int16(-1))
        scene = np.where(begins, room, scene)
        length = np.where(begins, 1, length + 1)
        began |= begins
        # What was said before.
        acts = ~_WITHOUT_SUBJECT[kind] & (agent >= 0)
        female, last_female = is_female[who, columns], is_female[np.maximum(last_agent, 0), columns]
        hearer_female = is_female[np.maximum(last_hearer, 0), columns]
        same_subject[now] = (
            acts & ~begins & (agent == last_agent) & ((last_hearer < 0) | ((hearer_female != female) & (not is_silent)))
        )
        been, here = has_been[who, where, columns], (room >= 0) & (room == last_room) & ~begins
        known, back = is_thing_known[what, columns], was_in[what, into, columns]
        it = (thing >= 0) & (thing == last_thing) & ~begins
        him = (hearer >= 0) & (hearer == last_agent) & (last_hearer < 0) & (female != last_female) & ~begins
        too = here & ~been & (last_kind == EventKind.ENTER)
        entering = np.where(too, _TOO, np.where(here, np.where(been, _BACK_HERE, _HERE), np.where(been, _BACK, _USUAL)))
        placing = np.where(known, np.where(here, _KNOWN_HERE, _KNOWN), np.where(here, _HERE, _USUAL))
        moving = np.where(it, np.where(back, _BACK_IT, _IT), np.where(back, _BACK, _USUAL))
        situation[now] = np.select(
            [kind == each for each in (EventKind.ENTER, EventKind.EXIT, EventKind.PLACE, EventKind.MOVE)]
            + [kind == EventKind.WHISPER, kind == EventKind.FEEL],
            [entering, here * _HERE, placing, moving, him * _HIM, known * _KNOWN],
        )
        is_box_new[now] = (box >= 0) & ~is_box_known[into, columns]
        # What is said now.
        is_box_known[into, columns] |= box >= 0
        is_thing_known[what, columns] |= thing >= 0
        has_been[who, where, columns] |= (agent >= 0) & (kind == EventKind.ENTER)
        was_in[what, into, columns] |= (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
        last_kind, last_agent, last_hearer = kind, np.where(acts, agent, no_one), hearer
        last_room = np.where(_IN_ROOM[kind], room, no_one)
        last_thing = np.where(_OF_THING[kind], thing, no_one)
    return _Telling(situation, is_box_new, same_subject, time)


class _World:
    """Who is where and what lies where in some stories; compare `PlotState`."""

    def __init__(self, stories: PlotArrays) -> None:
        self.stories = stories
        self.columns = np.arange(stories.kind.shape[1])
        self.room = self._empty(stories.agents)
        self.lies_in = self._empty(int(stories.thing.max(initial=0)) + 1)  # the room of each object

    def _empty(self, rows: int) -> Small:
        return np.full((rows, len(self.columns)), NOBODY, np.int8)

    def advance(self, time: int) -> None:
        """Let happen what happens at a time."""
        plots, kind, columns = self.stories, self.stories.kind[time], self.columns
        agent, room = plots.agent[time], plots.room[time]
        enters = (agent != NOBODY) & ((kind == EventKind.ENTER) | (kind == EventKind.IS_IN))
        walks = enters | ((agent != NOBODY) & (kind == EventKind.EXIT))
        who = np.maximum(agent, 0)
        self.room[who, columns] = np.where(enters, room, np.where(walks, np.int8(NOBODY), self.room[who, columns]))
        puts = (kind == EventKind.PLACE) | (kind == EventKind.MOVE)
        thing = np.maximum(plots.thing[time], 0)
        self.lies_in[thing, columns] = np.where(puts, room, self.lies_in[thing, columns])


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
