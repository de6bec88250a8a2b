from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from storyproof.errors import ParseError, UnknownNameError, VocabularyError
from storyproof.families.belief.arrays import LocalNames, decode_plot, encode_plots
from storyproof.families.belief.benchmarks.plot_sampler import DrawnPlots, PlotDials, draw_plots
from storyproof.families.belief.language import pack as packs
from storyproof.families.belief.language.pack import LanguagePack, load_pack
from storyproof.families.belief.language.reader import StoryReader
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.questions import Ask, BeliefQuestion, Reply
from storyproof.families.belief.tomi_text import narrate, parse
from storyproof.families.belief.wording import (
    ASKS,
    LANGUAGES,
    PlotWording,
    divide_words,
    find_language,
    find_wording,
)
from storyproof.families.belief.world import IDLE, EventKind, PlotEvent, PlotState
from storyproof.generation.arrow_columns import NO_WORD
from storyproof.generation.seeds import Draws
from tests.families.belief.plots import plots

RICH = PlotDials(agents=5, rooms=3, objects=2, moves=3, tells=3, lies=3, peeks=2, distractions=2, noise=1, walks=10)
SMALL = PlotDials(agents=3, rooms=2, objects=2, moves=2, tells=2, lies=2, peeks=2, distractions=2, noise=1, walks=5)
PLAIN = PlotDials(agents=4, rooms=3, objects=2, moves=3, noise=1, walks=6)
_ATTENTION = (EventKind.PEEK, EventKind.UNPEEK, EventKind.DISTRACT, EventKind.ATTEND)
ALL = [*product(LANGUAGES, ("plain", "narrative")), ("en", "tomi")]


def draw_block(wording: PlotWording, dials: PlotDials, count: int, seed: object) -> tuple[DrawnPlots, Cast]:
    """Return random stories, and random words for them."""
    drawn, words, draws = draw_plots(dials, Draws("wording", seed), count), wording.vocabulary, Draws("cast", seed)

    def deal(size: int, needed: int) -> Any:
        return np.stack([draws.order(size)[:needed] for _ in range(count)], axis=1).astype(np.int32)

    rooms, boxes = deal(len(words.rooms), dials.rooms), deal(len(words.containers), 3 * dials.rooms)
    agents, things = deal(len(words.agents), dials.agents), deal(len(words.objects), dials.objects)
    return drawn, Cast(agents, rooms, things, boxes)


def events_of(wording: PlotWording, drawn: DrawnPlots, cast: Cast, column: int) -> list[PlotEvent]:
    words = wording.vocabulary
    lists = ((words.agents, cast.agents), (words.rooms, cast.rooms), (words.objects, cast.things))
    names = LocalNames(
        *(
            {known[word]: number for number, word in enumerate(numbers[:, column])}
            for known, numbers in (*lists, (words.containers, cast.containers))
        )
    )
    events = decode_plot(drawn.stories, column, names)
    return [event._replace(lie=lie) for event, lie in zip(events, drawn.lie[:, column].tolist(), strict=True)]


def count_misses(language: str, style: str, dials: PlotDials, count: int, seed: object) -> int:
    """Return how many of some stories are not read back as they were drawn."""
    wording, misses = find_wording(language, style), 0
    drawn, cast = draw_block(wording, dials, count, seed)
    texts = wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("text", seed)).to_pylist()
    for column, text in enumerate(texts):
        try:
            misses += wording.read(text) != events_of(wording, drawn, cast, column)
        except ParseError:
            misses += 1
    return misses


@pytest.mark.parametrize(("language", "style"), ALL)
def test_stories_are_read_back(language: str, style: str) -> None:
    assert count_misses(language, style, PLAIN if style == "tomi" else RICH, 150, 0) == 0


@pytest.mark.slow
@pytest.mark.parametrize(("language", "style"), ALL)
def test_many_stories_are_read_back(language: str, style: str) -> None:
    for block in range(10):
        dials = PLAIN if style == "tomi" else (RICH, SMALL)[block % 2]
        assert count_misses(language, style, dials, 1000, block) == 0


def in_words(wording: PlotWording, plot: Sequence[PlotEvent], rng: random.Random) -> list[PlotEvent]:
    """Return a story with words of a language; some noise becomes liking, and moves happen where the mover is."""
    words = wording.vocabulary
    lists = {"agent": words.agents, "room": words.rooms, "thing": words.objects, "container": words.containers}
    picked: dict[tuple[str, str], str] = {}
    unused = {role: rng.sample(known, len(known)) for role, known in lists.items()}
    state, found = PlotState(), []
    for event in plot:
        if event.kind in IDLE:
            event = PlotEvent(EventKind.NOISE)
            if rng.random() < 0.5:
                event = PlotEvent(EventKind.FEEL, "Ada", thing="key", feeling="likes")
        for role in ("agent", "room", "thing", "container", "hearer"):
            name, kind = getattr(event, role), "agent" if role == "hearer" else role
            if name is not None:
                if (kind, name) not in picked:
                    picked[kind, name] = unused[kind].pop()
                event = event._replace(**{role: picked[kind, name]})
        if event.kind == EventKind.MOVE:
            room = state.where.get(str(event.agent)) or state.homes.get(str(event.container))
            event = event._replace(room=room) if room else PlotEvent(EventKind.NOISE)
        if event.kind in (EventKind.TELL, EventKind.WHISPER, EventKind.ANNOUNCE):
            event = event._replace(lie=rng.random() < 0.4)
        state.advance(event)
        found.append(event)
    return found


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("style", ["plain", "narrative"])
def test_any_events_are_read_back_possible_or_not(language: str, style: str) -> None:
    wording, rng = find_wording(language, style), random.Random(1)
    for number, plot in enumerate(plots(seed=7, count=200)):
        events = in_words(wording, plot, rng)
        sentences = wording.narrate(events, Draws("any", number))
        assert len(sentences) == len(events)
        assert wording.read(sentences) == events


@pytest.mark.parametrize(("language", "style"), ALL)
def test_a_block_and_single_stories_have_the_same_text(language: str, style: str) -> None:
    wording = find_wording(language, style)
    for seed in range(20):
        drawn, cast = draw_block(wording, SMALL if style != "tomi" else PLAIN, 1, seed)
        (text,) = wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("t", seed)).to_pylist()
        assert "\n".join(wording.narrate(events_of(wording, drawn, cast, 0), Draws("t", seed))) == text


def test_narratives_have_all_that_they_can_have() -> None:
    for language in LANGUAGES:
        wording, pack = find_wording(language, "narrative"), load_pack(language)
        drawn, cast = draw_block(wording, RICH, 300, "all")
        texts = wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("all")).to_pylist()
        lines = [line for text in texts for line in text.split("\n")]
        for prefix in (*pack.connectives, *pack.times):
            assert any(line.startswith(prefix) for line in lines), prefix
        for pronoun in pack.grammar.pronouns.values() if not pack.grammar.is_silent else ():
            assert any(pronoun in line.lower() for line in lines)
        assert len(set(texts)) == len(texts)


def test_the_style_of_tomi_is_that_of_tomi() -> None:
    wording = find_wording("en", "tomi")
    drawn, cast = draw_block(wording, PLAIN, 300, "tomi")
    texts = wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("tomi")).to_pylist()
    kinds = {kind: EventKind[kind.name] for kind in (EventKind.ENTER, EventKind.EXIT, EventKind.PLACE, EventKind.MOVE)}
    same = 0
    for column, text in enumerate(texts):
        found = events_of(wording, drawn, cast, column)
        # ToMi writes "is" of plural objects too, and never names the room.
        if " are in " not in text and not any(line.count(" in the ") > 1 for line in text.split("\n")):
            events = [
                PlotEvent(kinds.get(event.kind, EventKind.NOISE), event.agent, event.room, event.thing, event.container)
                for event in found
            ]
            assert parse(text) == events
            assert narrate(events) == text
            same += 1
        assert wording.read(text) == found
    assert same > 100


# Questions and answers.


def any_question(wording: PlotWording, rng: random.Random, ask: Ask, count: int) -> BeliefQuestion:
    words = wording.vocabulary
    place = rng.choice(words.containers) if ask == Ask.BELIEVERS else None
    return BeliefQuestion(ask, rng.choice(words.objects), tuple(rng.sample(words.agents, count)), place)


COUNTS = {
    Ask.REALITY: (0,),
    Ask.MEMORY: (0,),
    Ask.BELIEF: range(1, 9),
    Ask.SAYS: (1,),
    Ask.KNOWS_WHERE: (1,),
    Ask.KNOWS_WRONG: (2,),
    Ask.BELIEVERS: range(8),
    Ask.COMMON: range(2, 9),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_are_read_back(language: str) -> None:
    wording, rng = find_wording(language), random.Random(2)
    asked = [
        any_question(wording, rng, ask, count) for ask, counts in COUNTS.items() for count in counts for _ in range(20)
    ]
    texts = [wording.ask(question) for question in asked]
    assert [wording.read_question(text) for text in texts] == asked
    words = wording.vocabulary
    chain = np.full((8, len(asked)), NO_WORD, np.int32)
    for column, question in enumerate(asked):
        chain[: len(question.chain), column] = [words.agents.index(name) for name in question.chain]
    block = wording.ask_block(
        np.array([ASKS.index(question.ask) for question in asked], np.uint8),
        np.array([words.objects.index(question.thing) for question in asked], np.int32),
        chain,
        np.array([words.containers.index(each.place) if each.place else NO_WORD for each in asked], np.int32),
    )
    assert block.to_pylist() == texts


@pytest.mark.parametrize("language", LANGUAGES)
def test_different_answers_have_different_words(language: str) -> None:
    wording = find_wording(language)
    words = wording.vocabulary
    replies: list[Reply] = [None, words.containers[3], "yes", "no", (), words.agents[:1], words.agents[2:5]]
    assert len({wording.answer(reply) for reply in replies}) == len(replies)


# Grammar. Sentences are those of plain stories unless they say otherwise.


@pytest.mark.parametrize(
    ("language", "event", "sentence"),
    [
        ("en", ("PLACE", None, "hall", "jeans", "box"), "The jeans are in the box in the hall."),
        ("de", ("PLACE", None, "Flur", "Schlüssel", "Schachtel"), "Der Schlüssel war in der Schachtel im Flur."),
        ("de", ("PLACE", None, "Dachboden", "Jeans", "Fass"), "Die Jeans waren im Fass auf dem Dachboden."),
        ("de", ("MOVE", "Anna", "Flur", "Hut", "Fass"), "Anna legte den Hut ins Fass."),
        ("de", ("MOVE", "Anna", "Flur", "Brille", "Korb"), "Anna legte die Brille in den Korb."),
        ("de", ("UNPEEK", "Anna"), "Anna hörte mit dem Beobachten auf."),
        ("de", ("PEEK", "Anna", "Büro"), "Anna begann, heimlich das Büro zu beobachten."),
        ("es", ("EXIT", "Ana", "pasillo"), "Ana salió del pasillo."),
        ("es", ("EXIT", "Ana", "cocina"), "Ana salió de la cocina."),
        ("es", ("PLACE", None, "aula", "llave", "caja"), "La llave estaba en la caja, en el aula."),
        ("es", ("PLACE", None, "sala", "tijeras", "cofre"), "Las tijeras estaban en el cofre, en la sala."),
        ("zh", ("PLACE", None, "厨房", "钥匙", "盒子"), "钥匙在厨房的盒子里。"),
        ("zh", ("MOVE", "王芳", "厨房", "钥匙", "盒子"), "王芳把钥匙移到了盒子里。"),
    ],
)
def test_grammar(language: str, event: tuple[Any, ...], sentence: str) -> None:
    assert find_wording(language).narrate([PlotEvent(EventKind[event[0]], *event[1:])]) == [sentence]


@pytest.mark.parametrize(
    ("language", "role", "word", "form", "text"),
    [
        ("en", "thing", "egg", "a", "an egg"),
        ("en", "thing", "uniform", "a", "a uniform"),
        ("en", "thing", "scissors", "a", "some scissors"),
        ("de", "room", "Dachboden", "away", "vom Dachboden hinunter"),
        ("de", "room", "Küche", "away", "aus der Küche hinaus"),
        ("de", "thing", "Magnet", "acc", "den Magneten"),
        ("es", "room", "aula", "to", "al aula"),
        ("es", "thing", "tijeras", "it", "las"),
        ("es", "room", "aula", "the", "el aula"),
        ("es", "agent", "Inés", "and", "e Inés"),
        ("es", "agent", "Hugo", "and", "y Hugo"),
        ("zh", "thing", "牛仔裤", "a", "一条牛仔裤"),
    ],
)
def test_forms(language: str, role: str, word: str, form: str, text: str) -> None:
    (noun,) = (noun for noun in load_pack(language).nouns[role] if noun.word == word)
    assert noun.forms[form] == text


def test_all_languages_have_the_same_words() -> None:
    folder = Path(packs.__file__).parent
    files = {language: yaml.safe_load((folder / f"{language}.yaml").read_text("utf-8")) for language in LANGUAGES}
    for role in ("rooms", "containers", "objects"):
        assert len({tuple(file[role]) for file in files.values()}) == 1
    assert len({tuple(noun.gender for noun in load_pack(language).agents) for language in LANGUAGES}) == 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_container_has_the_name_of_another_in_its_own(language: str) -> None:
    containers = [word.casefold() for word in find_wording(language).vocabulary.containers]
    assert not [pair for pair in product(containers, repeat=2) if pair[0] != pair[1] and pair[0] in pair[1]]


# What cannot be read.


@pytest.mark.parametrize(
    ("language", "story", "message"),
    [
        (
            "en",
            "Ada entered the kitchen.\nAda whispered to Greta that the key was in the box.\nThen she left the kitchen.",
            "sentence 3: the subject of 'Then she left the kitchen.' can be Ada or Greta; name the person.",
        ),
        ("en", "He entered the kitchen.", "sentence 1: the subject of 'He entered the kitchen.' can be nobody"),
        (
            "en",
            "Ada entered the kitchen.\nThe phone rang.\nShe left.",
            "sentence 3: the subject of 'She left.' can be n",
        ),
        (
            "en",
            "Ada entered the kitchen.\nHe left the kitchen.",
            "sentence 2: the subject of 'He left the kitchen.' can",
        ),
        (
            "en",
            "Ada entered the kitchen.\nGreta took him aside and told him that the key was in the box.",
            "sentence 2: the hearer of 'Greta took him aside and told him that the key was in the box.' can be nobody",
        ),
        (
            "en",
            "Ada entered the kitchen.\nAda secretly began to watch the hall.\nGreta came in.",
            "sentence 3: 'Greta came in.' names no room, and the sentence before is not about a room; name it.",
        ),
        (
            "en",
            "There was a key in a box in the hall.\nAda came in.\nAda put it into a chest.",
            "sentence 3: 'Ada put it into a chest.' names no object, and the sentence before is not about an object;",
        ),
        (
            "en",
            "At noon, Ada entered the kitchen.\nAt noon, Ada left the kitchen.",
            "sentence 2: 'At noon,' comes after 'At noon,'.",
        ),
        ("en", "Then The key was in the box in the hall.", "sentence 1, character 6: not understood: 'The key"),
        ("en", "The jeans is in the box in the hall.", "sentence 1, character 11: not understood: 'is in the box"),
        (
            "de",
            "Anna betrat der Küche.",
            "sentence 1, character 13: not understood: 'der Küche.'; expected one of: a ro",
        ),
        ("de", "Dann Anna betrat die Küche.", "sentence 1, character 6: not understood: 'Anna betrat"),
        ("de", "Der Kamm liegt im Tank im Flur.", "sentence 1, character 10: not understood: 'liegt im Tank im Flur.'"),
        ("es", "Ana salió de el pasillo.", "sentence 1, character 11: not understood: 'de el pasillo.'"),
        ("es", "Ana entró en la cocina", "sentence 1, character 23: not understood: the end of the sentence"),
        ("zh", "王芳走进厨房。", "sentence 1, character 7: not understood: '。'"),
    ],
)
def test_the_place_that_is_not_understood_is_named(language: str, story: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        find_wording(language).read(story)
    assert str(caught.value).startswith(message)


def damage(text: str, rng: random.Random) -> str:
    """Return a text with a word or a character lost, repeated, swapped or replaced."""
    units = text.split(" ") if rng.random() < 0.5 and " " in text else list(text)
    glue = " " if len(units) < len(text) else ""
    place, other = rng.randrange(len(units)), rng.randrange(len(units))
    changes = [
        units[:place] + units[place + 1 :],
        [*units[:place], units[place], *units[place:]],
        [*units[:place], rng.choice("xÄ。.\ue000\n 他"), *units[place + 1 :]],
    ]
    units[place], units[other] = units[other], units[place]
    return glue.join(rng.choice([*changes, units]))


def refusal(read: Callable[[str], object], text: str) -> str:
    """Return why a text is refused, empty if it is not; any other error than a ParseError is raised."""
    try:
        read(text)
    except ParseError as error:
        return str(error)
    return ""


def read_damaged(language: str, count: int, seed: int) -> int:
    """Return how many of some damaged stories are read nevertheless; all others must be refused with their place."""
    wording, rng, read = find_wording(language, "narrative"), random.Random(seed), 0
    drawn, cast = draw_block(wording, SMALL, count, seed)
    for text in wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("damage", seed)).to_pylist():
        why = refusal(wording.read, damage(text, rng))
        assert not why or why.startswith("sentence ")
        read += not why
        question = wording.ask(any_question(wording, rng, Ask.BELIEF, rng.randint(1, 4)))
        why = refusal(wording.read_question, damage(question, rng))
        assert not why or why.startswith("not a question")
    return read


@pytest.mark.parametrize("language", LANGUAGES)
def test_damaged_text_is_refused_with_its_place(language: str) -> None:
    assert read_damaged(language, 150, 1) < 50


def test_a_pronoun_is_the_subject_of_the_sentence_before() -> None:
    story = "Ada entered the kitchen.\nGreta entered the kitchen.\nThen she left the kitchen.\nShe came back."
    assert [event.agent for event in find_wording().read(story)] == ["Ada", "Greta", "Greta", "Greta"]
    story = "Ada whispered to Hugo that the key was in the box.\nHe left the kitchen."
    with pytest.raises(ParseError, match="can be Hugo; name the person"):
        find_wording().read(story)


def test_what_is_not_named_is_that_of_the_sentence_before() -> None:
    story = (
        "At noon, Ada entered the kitchen.\nHugo came in too.\nIn a box, there was a key.\n"
        "Ada put it into a chest.\nHugo took her aside and told her that the key was in the box."
    )
    assert find_wording().read(story) == [
        PlotEvent(EventKind.ENTER, "Ada", "kitchen"),
        PlotEvent(EventKind.ENTER, "Hugo", "kitchen"),
        PlotEvent(EventKind.PLACE, None, "kitchen", "key", "box"),
        PlotEvent(EventKind.MOVE, "Ada", "kitchen", "key", "chest"),
        PlotEvent(EventKind.WHISPER, "Hugo", None, "key", "box", "Ada"),
    ]


def test_a_subject_that_is_left_out_is_that_of_the_sentence_before() -> None:
    wording = find_wording("es")
    assert wording.read("Ana entró en la cocina.\nLuis entró en la cocina.\nSalió de la cocina.")[2].agent == "Luis"
    with pytest.raises(ParseError, match="can be Ana or Luis"):
        wording.read("Ana le dijo a Luis en privado que la llave estaba en la caja.\nSalió de la cocina.")


@pytest.mark.parametrize("language", LANGUAGES)
def test_narratives_name_what_is_new_and_leave_out_what_is_known(language: str) -> None:
    """Scenes begin with a time and name everything; a time stands before nothing but an act; first mentions are new."""
    wording, pack = find_wording(language, "narrative"), load_pack(language)
    drawn, cast = draw_block(wording, RICH, 100, "new")
    texts = wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("new")).to_pylist()
    for column, text in enumerate(texts):
        events, sentences = events_of(wording, drawn, cast, column), text.split("\n")
        things: set[str] = set()
        for event, sentence in zip(events, sentences, strict=True):
            if sentence.startswith(pack.times):
                assert event.kind in (EventKind.ENTER, EventKind.EXIT, EventKind.MOVE, *_ATTENTION)
                assert str(event.agent) in sentence
            if language == "en" and event.thing is not None and event.kind in (EventKind.FEEL, EventKind.PLACE):
                (noun,) = (noun for noun in pack.nouns["thing"] if noun.word == event.thing)
                assert (noun.forms["a"] in sentence or noun.forms["a"].capitalize() in sentence) == (
                    event.thing not in things
                )
            things |= {event.thing} if event.thing is not None else set()


def test_unknown_words_and_names_are_refused() -> None:
    with pytest.raises(VocabularyError, match=r"the language 'de' has no room 'kitchen'; add it to .*de.yaml"):
        find_wording("de").narrate([PlotEvent(EventKind.ENTER, "Anna", "kitchen")])
    with pytest.raises(UnknownNameError, match="unknown language 'fr'"):
        find_wording("fr")
    with pytest.raises(UnknownNameError, match="unknown style of 'de' 'tomi'"):
        find_wording("de", "tomi")


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_language_of_a_text_is_found(language: str) -> None:
    wording = find_wording(language, "narrative")
    drawn, cast = draw_block(wording, SMALL, 20, "language")
    for text in wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("language")).to_pylist():
        assert find_language(text) == language
    question = BeliefQuestion(Ask.REALITY, wording.vocabulary.objects[0])
    assert find_language(wording.ask(question)) == language


def test_the_language_of_other_text_is_not_found() -> None:
    with pytest.raises(ParseError, match="not a sentence of a story in any of en, de, es, zh: 'Bonjour"):
        find_language("Bonjour tout le monde.")


# Packs.


@pytest.mark.parametrize(
    ("language", "old", "new", "message"),
    [
        (
            "de",
            "Schlüssel m",
            "Schlüssel",
            r"line \d+: thing 'Schlüssel': expected one of the marks f, m, n, pl, found",
        ),
        (
            "de",
            "Schlüssel m",
            "Schlüssel m x",
            r"line \d+: thing 'Schlüssel': unknown mark 'x'; use auf, en, f, m, n, pl",
        ),
        (
            "de",
            "[betrat] {room:acc}",
            "[betrat] {room:gen}",
            r"line 7: \{room:gen\} needs the form 'gen', which 'Küche'",
        ),
        ("de", "[betrat] {room:acc}", "[betrat] {place:acc}", r"line 7: unknown slot \{place:acc\}; expected one of"),
        ("de", "[betrat] {room:acc}", "[betrat] alles", r"line 7: \{room\} is missing in '.*'; expected one of each"),
        ("de", "[betrat] {room:acc}", "[betrat] {room:acc", r"line 7: unbalanced braces in"),
        ("de", "Schachtel f", "Jeans f", r"line \d+: 'Jeans' is in two roles"),
        ("es", "Ana f", "Ana", r"line \d+: the name 'Ana' has no gender; write 'Ana f' or 'Ana m'"),
        ("es", "reality:", "realty:", r"line \d+: unknown entry 'realty'; expected: reality, memory"),
        (
            "es",
            "dejó de vigilar",
            "se distrajo",
            r"line \d+: '.* se distrajo\.' can mean 'distract' and 'unpeek'; reword one",
        ),
        ("zh", "钥匙 把", "钥匙", r"line \d+: \{thing:a\} needs the form 'a', which '钥匙' does not have"),
        ("zh", "connectives:", "connective:", r"line \d+: unknown entry 'connective'"),
        ("en", "times:", "times: [", r"line \d+: not valid YAML"),
    ],
)
def test_mistakes_in_a_pack_are_named(tmp_path: Path, language: str, old: str, new: str, message: str) -> None:
    pack = load_pack(language)
    path = tmp_path / "pack.yaml"
    text = pack.path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(VocabularyError, match=f"pack.yaml, {message}") as caught:
        StoryReader(LanguagePack(language, pack.grammar, path))
    assert "\n" not in str(caught.value)


def test_words_of_splits_are_disjoint() -> None:
    least = {"agents": 5, "rooms": 3, "containers": 9, "objects": 3}
    for language in LANGUAGES:
        vocabulary = find_wording(language).vocabulary
        splits = divide_words(vocabulary, (0.8, 0.1, 0.1), least)
        for role, count in least.items():
            words = [set(getattr(vocabulary, role)[part.start : part.stop]) for part in (each[role] for each in splits)]
            assert sum(map(len, words)) == len(set.union(*words)) == len(getattr(vocabulary, role))
            assert min(map(len, words)) >= count
        for each in splits:
            genders = {load_pack(language).agents[number].gender for number in each["agents"]}
            assert genders == {"m", "f"}
    with pytest.raises(VocabularyError, match="too few rooms: 27 found, 3 splits needs at least 30"):
        divide_words(vocabulary, (1, 1, 1), {"rooms": 10})


def test_names_in_plain_english_can_be_any() -> None:
    wording = find_wording()
    events = [PlotEvent(EventKind.ENTER, "Zoë", "igloo"), PlotEvent(EventKind.EXIT, "Zoë", "igloo")]
    assert wording.narrate(events) == ["Zoë entered the igloo.", "Zoë exited the igloo."]
    assert wording.read(wording.narrate(events)) == events
    assert encode_plots([events])[0].agents == 1


def test_the_page_shows_what_the_code_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (Path(__file__).parents[3] / "docs" / "tom-k-text.md").read_text("utf-8")
    code, _, printed = page.split("```python\n")[1].split("```\n", 3)[:3]
    exec(code, {})
    assert capsys.readouterr().out == printed
    for language, text in re.findall(r"\| `(.*?)` \| (sentence 1.*?) \|", page):
        assert refusal(find_wording(text[-5:-3]).read, language) == text


def test_the_language_of_what_is_not_understood_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    known = StoryReader.knows
    monkeypatch.setattr(StoryReader, "knows", lambda self, text: asked.append(text) or known(self, text))
    text = "Ada zorched the glomp.\nBen flurbed it."
    for _ in range(3):
        with pytest.raises(ParseError):
            find_language(text)
    assert len(asked) == 2 * len(LANGUAGES)
