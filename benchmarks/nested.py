"""Beliefs of any order: drawing with proofs, the checker, stories of many messages (`python -m benchmarks.nested`)."""

from __future__ import annotations

import argparse
import resource
from collections.abc import Callable
from itertools import product

import numpy as np
import numpy.typing as npt

from benchmarks.measure import Record, cpu_seconds
from storyproof.benchmark import BLOCK_STORIES
from storyproof.datasets.generate import make_benchmark
from storyproof.families.belief import oracle
from storyproof.families.belief.answers import PlotAnswers, oracle_answer, oracle_proof
from storyproof.families.belief.arrays import NOBODY, LocalNames, Small, decode_plot
from storyproof.families.belief.benchmarks.plot_sampler import DrawnPlots, PlotDials, draw_plots
from storyproof.families.belief.benchmarks.tom_k import PRESETS, TomKConfig
from storyproof.families.belief.block_checker import PlotEventBlock, answer_under
from storyproof.families.belief.questions import ASKS, Ask, BeliefQuestion, QuestionArrays
from storyproof.families.belief.read_text import read_question, read_story
from storyproof.families.belief.readings import ALL_READINGS, DEFAULT_READING, TRUSTS, BeliefReading
from storyproof.families.belief.trajectories import Course
from storyproof.families.belief.world import PlotEvent
from storyproof.generation.seeds import Draws
from tests.families.belief.possible_worlds import MindWorlds

MEDIUM = PlotDials(agents=4, rooms=2, objects=2, moves=4, tells=2, lies=1, peeks=1, distractions=1, noise=1, walks=6)
FIVE = PlotDials(agents=5, rooms=3, objects=2, moves=3, tells=3, lies=1, peeks=1, distractions=1, walks=8)
TALK = PlotDials(agents=4, rooms=2, moves=2, tells=6, lies=3, walks=8)
_NAMES = LocalNames.generic(20)
RECORD = Record()
say = RECORD.say


def best(work: Callable[[], object], rounds: int = 5) -> float:
    """Return the least CPU time of several runs: the machine's clock varies."""
    return min(cpu_seconds(work) for _ in range(rounds))


def ask_each(dials: PlotDials, count: int, order: int) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Return an object and a chain of 1 to `order` agents for each story."""
    draws = Draws("benchmark", count)
    chain = draws.below(dials.agents, order * count).reshape(order, count).astype(np.int8)
    for place in range(1, order):  # nobody thinks of its own thoughts
        chain[place] = np.where(chain[place] == chain[place - 1], (chain[place] + 1) % dials.agents, chain[place])
    chain[np.arange(order)[:, None] > draws.below(order, count)] = NOBODY
    return draws.below(dials.objects, count).astype(np.int8), chain


def events_of(drawn: DrawnPlots, count: int) -> list[list[PlotEvent]]:
    return [decode_plot(drawn.stories, column, _NAMES) for column in range(count)]


def believe(drawn: DrawnPlots, thing: Small, chain: Small, reading: BeliefReading) -> Small:
    """Return what the chain of each story believes."""
    return oracle.beliefs(Course.of(drawn.stories), np.arange(len(thing)), thing, chain, reading)


def proving() -> None:
    """Stories at a medium setting, each with the proof of one answer; in blocks and one by one."""
    count, columns = BLOCK_STORIES, np.arange(BLOCK_STORIES)
    drawing = best(lambda: draw_plots(MEDIUM, Draws("benchmark"), count))
    drawn = draw_plots(MEDIUM, Draws("benchmark"), count)
    thing, chain = ask_each(MEDIUM, count, 3)
    rate = count / drawing
    say(f"nested beliefs, medium, drawing {count:,} stories, best of 5", f"{rate:,.0f} /CPU s", drawing=rate)
    ask = np.full(count, ASKS.index(Ask.BELIEF), np.uint8)
    asked_of_all = QuestionArrays(columns, ask, thing, chain, np.full(count, NOBODY, np.int8))
    fast = 0.0
    for trust in TRUSTS:
        reading = BeliefReading(trust=trust)
        answers = best(lambda reading=reading: believe(drawn, thing, chain, reading))
        proofs = best(lambda trust=trust: PlotAnswers(drawn.stories, asked_of_all).prove(trust))
        rates = {f"answered {trust}": count / answers, f"proved {trust}": count / (drawing + proofs)}
        answered, proved = (f"{rate:,.0f} /CPU s" for rate in rates.values())
        say(f"  answers under {reading}, orders 1 to 3", answered, **rates)
        goal = "goal 20,000" if reading == DEFAULT_READING else ""
        say(f"  drawing, answer and proof under {reading}", proved, goal)
        fast = drawing + proofs if reading == DEFAULT_READING else fast
    few = 100
    stories = events_of(drawn, few)
    asked = [
        BeliefQuestion(Ask.BELIEF, f"o{thing[story]}", tuple(f"a{agent}" for agent in chain[:, story] if agent >= 0))
        for story in range(few)
    ]

    def plainly() -> None:
        draw_plots(MEDIUM, Draws("benchmark"), 1)
        for events, question in zip(stories, asked, strict=True):
            oracle_proof(events, question, DEFAULT_READING)

    slow = best(plainly, 3)
    ratio = f"ratio {count / fast:,.0f} : {few / slow:,.0f} = {count / fast * slow / few:,.0f}"
    plain = f"{few / slow:,.0f} /CPU s"
    say(f"  the plain way: proofs one by one, {few} stories, best of 3", plain, ratio, proved_plainly=few / slow)


def checking() -> None:
    """The checker on different stories with five agents: one question of order 3, and all."""
    count = 400
    stories = events_of(draw_plots(FIVE, Draws("benchmark"), count), count)
    chains = [chain for chain in product(tuple(_NAMES.agents)[:5], repeat=3) if chain[0] != chain[1] != chain[2]]
    alone, together = [], []
    for trust in TRUSTS:
        reading = BeliefReading(trust=trust)
        one = best(lambda reading=reading: [MindWorlds(story, reading).belief(chains[0], "o0") for story in stories], 3)
        alone.append(count / one)
        say(f"checker, 5 agents, order 3, {reading}, one question", f"{alone[-1]:,.0f} /CPU s", "goal 1,000")

        def ask_all(reading: BeliefReading = reading) -> None:
            for story in stories:
                worlds = MindWorlds(story, reading)
                for chain in chains:
                    worlds.belief(chain, "o0")

        together.append(count / best(ask_all, 2))
        say(f"  all {len(chains)} questions of order 3", f"{together[-1]:,.0f} /CPU s")
    for name, rates in (("checker", alone), ("checker_all", together)):
        RECORD.note(f"{name} least", min(rates))
        RECORD.note(f"{name} most", max(rates))


def ask_block(dials: PlotDials, count: int, order: int) -> QuestionArrays:
    """Return for each story a belief of each order, and a question of another kind."""
    draws, each = Draws("benchmark", count), order + 1
    total = each * count
    chain = draws.below(dials.agents, order * total).reshape(order, total).astype(np.int8)
    for place in range(1, order):
        chain[place] = np.where(chain[place] == chain[place - 1], (chain[place] + 1) % dials.agents, chain[place])
    others = (Ask.SAYS, Ask.KNOWS_WHERE, Ask.KNOWS_WRONG, Ask.BELIEVERS, Ask.COMMON)
    sizes = {Ask.KNOWS_WRONG: 2, Ask.COMMON: 2}
    kind, number = draws.below(len(others), total), np.tile(np.arange(each), count)
    is_belief = number < order
    ask = np.where(is_belief, ASKS.index(Ask.BELIEF), np.array([ASKS.index(other) for other in others])[kind])
    length = np.where(is_belief, number + 1, np.array([sizes.get(other, 1) for other in others])[kind])
    chain[np.arange(order)[:, None] >= length] = NOBODY
    place = np.where(ask == ASKS.index(Ask.BELIEVERS), draws.below(3 * dials.rooms, total), NOBODY)
    thing = draws.below(dials.objects, total)
    story = np.repeat(np.arange(count), each)
    return QuestionArrays(story, ask.astype(np.uint8), thing.astype(np.int8), chain, place.astype(np.int8))


def checking_blocks() -> None:
    """The checker for blocks: orders 1 to `order` and one question of another kind per story, medium and hard."""
    count = BLOCK_STORIES
    for preset in ("medium", "hard"):
        config = TomKConfig(**PRESETS[preset])
        stories = draw_plots(config.plot_dials, Draws("benchmark"), count).stories
        block = PlotEventBlock(
            stories.kind, stories.agent, stories.room, stories.thing, stories.container, stories.hearer
        )
        asked = ask_block(config.plot_dials, count, config.order)
        for readings in (*((reading,) for reading in ALL_READINGS), ALL_READINGS):
            time = best(lambda block=block, asked=asked, readings=readings: answer_under(block, asked, readings))
            under = str(readings[0]) if len(readings) == 1 else f"all {len(readings)}"
            what = f"array checker, {preset}, {config.order + 1} questions per story, {under}"
            say(what, f"{count / time:,.0f} /CPU s", f"{1e6 * time / count:.1f} µs per story")
        RECORD.note(f"blocks {preset}", count / time)  # under all readings


def talking() -> None:
    """Stories with nine messages, in which many chains may catch many liars."""
    count = 1000
    drawn = draw_plots(TALK, Draws("benchmark"), count)
    thing, chain = ask_each(TALK, count, 3)
    for trust in TRUSTS:
        reading = BeliefReading(trust=trust)
        time = best(lambda reading=reading: believe(drawn, thing, chain, reading), 3)
        rate = count / time
        say(f"nine messages, answers under {reading}", f"{rate:,.0f} /CPU s", **{f"nine messages {trust}": rate})


def whole_blocks() -> None:
    """Blocks of `tom-k` as users get them: text, all questions, twelve readings, proofs, confirmed by the checker."""
    for preset in ("easy", "medium", "hard", "extreme"):
        made = make_benchmark("tom-k", 7, preset=preset)
        made.block("train", 0)  # languages, words and lookups are read once
        # The clock wanders, so the best of some blocks counts.
        time = min(cpu_seconds(lambda made=made, index=index: made.block("train", index)) for index in range(1, 7))
        rate, goal = made.block_stories / time, "goal 20,000" if preset == "medium" else ""
        say(f"tom-k to Arrow, {preset}, {made.block_stories:,} stories", f"{rate:,.0f} /CPU s", goal, **{preset: rate})
    few = 15
    rows = make_benchmark("tom-k", 7, preset="medium").beginning("train", 1, few).to_pylist()

    def plainly() -> None:
        for row in rows:
            events, question = read_story(row["story"]).events, read_question(row["question"])
            oracle_proof(events, question, DEFAULT_READING)
            for reading in ALL_READINGS:
                assert oracle_answer(events, question, reading) == MindWorlds(events, reading).answer(question)

    slow = best(plainly, 2)
    plain = few / slow
    say(f"  the plain way: question by question, without text, {few} stories", f"{plain:,.0f} /CPU s", plain=plain)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", help="also write the figures to this file")
    chosen = parser.parse_args()
    proving()
    whole_blocks()
    checking()
    checking_blocks()
    talking()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say("nested beliefs, peak memory", f"{peak:,.0f} MiB", "goal 1,024", peak=peak)
    RECORD.write(chosen.json)


if __name__ == "__main__":
    main()
