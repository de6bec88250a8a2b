"""Measure a step of `tracker` with each length of stories, and list its kernels: `python -m benchmarks.step_time`."""

from __future__ import annotations

import argparse
import time

import torch

from storyproof.catalog import load
from storyproof.solvers.neural.tracker_training import TrackerPlan, TrackerRun, draw_stories

STEPS = 50
KERNELS = 25  # listed of each length


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=2048)
    parser.add_argument("--stories", type=int, default=60_000)
    parser.add_argument("--compiled", type=int, default=1)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    plan = TrackerPlan.of(vars(arguments) | {"steps": 10_000})
    curriculum, stories = load("curriculum", "tracker")(0), draw_stories(plan, device)
    run = TrackerRun(plan, 0, curriculum.forms, curriculum.words, stories, stories, device)

    def take(kind: int) -> float:
        begun = time.perf_counter()
        for _ in range(STEPS):
            if device.type == "cuda":
                run._replay(kind)
            else:
                run._take(kind)
        if device.type == "cuda":
            torch.cuda.synchronize()
        return 1000 * (time.perf_counter() - begun) / STEPS

    for kind, each in enumerate(stories):
        begun = time.perf_counter()
        run.learn() if device.type == "cpu" else take(kind)
        first = time.perf_counter() - begun
        length = each.form.shape[1]
        print(
            f"{length} sentences: {first:.0f} s for the first {STEPS} steps, then {take(kind):.2f} ms a step",
            flush=True,
        )
        if device.type == "cuda":
            with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
                take(kind)
            rows = sorted(profile.key_averages(), key=lambda row: -row.self_device_time_total)[:KERNELS]
            for row in rows:
                print(f"{row.self_device_time_total / 1000 / STEPS:8.3f} ms {row.count / STEPS:6.1f} x {row.key[:90]}")


if __name__ == "__main__":
    main()
