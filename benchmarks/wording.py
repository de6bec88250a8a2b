"""CPU time per story of narrating and reading stories about nested beliefs: `python -m benchmarks.wording`."""

from __future__ import annotations

import time

import numpy as np

from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_plots
from storyproof.families.belief.narration import Cast
from storyproof.families.belief.wording import LANGUAGES, find_wording
from storyproof.generation.seeds import Draws

DIALS = PlotDials(agents=4, rooms=2, objects=1, moves=2, tells=2, lies=1, peeks=1, distractions=1, walks=6)
COUNT, READ, TIMES = 8000, 500, 5


def main() -> None:
    drawn = draw_plots(DIALS, Draws("speed of wording"), COUNT)
    print(f"{DIALS.sentences} sentences; microseconds of CPU time per story, the best of {TIMES}")
    print("language  style      narrate  read")
    for language in LANGUAGES:
        for style in ("plain", "narrative"):
            wording, draws = find_wording(language, style), Draws("words")
            words, needed = wording.vocabulary, (DIALS.agents, DIALS.rooms, DIALS.objects, 3 * DIALS.rooms)
            lists = (words.agents, words.rooms, words.objects, words.containers)
            deals = [
                np.stack([draws.order(len(known))[:number] for _ in range(COUNT)], axis=1).astype(np.int32)
                for known, number in zip(lists, needed, strict=True)
            ]
            cast, narrating, reading = Cast(*deals), [], []
            for _ in range(TIMES):
                start = time.process_time()
                texts = wording.narrate_block(drawn.stories, drawn.lie, cast, Draws("text"))
                narrating.append(time.process_time() - start)
            for part in range(TIMES):
                some = texts.slice(part * READ, READ).to_pylist()
                start = time.process_time()
                for text in some:
                    wording.read(text)
                reading.append(time.process_time() - start)
            spent = min(narrating) / COUNT * 1e6, min(reading) / READ * 1e6
            print(f"{language:8}  {style:9}  {spent[0]:7.1f}  {spent[1]:4.0f}")


if __name__ == "__main__":
    main()
