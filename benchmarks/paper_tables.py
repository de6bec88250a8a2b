"""Train what the tables of the papers lack, on one GPU, the most important rows first.

Run as `python -m benchmarks.paper_tables --published DIR --out FOLDER --minutes 9`. Several processes share the GPU and
divide the trainings. What the written tables have on the present stories is not repeated. FOLDER/runs.tgz has the
counts of all runs, the times and the metrics of every epoch, without weights: unpack it in experiments/results, and
`storyproof experiment NAME --only … --keep` writes them into the tables.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
from pathlib import Path

from storyproof.errors import StoryproofError

RESULTS = Path(__file__).parents[1] / "experiments" / "results"
BELIEF = ["memnn", "entnet", "relnet"]
PLAIN = [f"{model}-plain" for model in BELIEF]
NOISE = ["clean", "supporting", "irrelevant", "disconnected"]
LENGTHS = ["trained on k = 2, 3", "trained on k = 2, 3, 4"]

# experiment, models, rows: by importance
LISTS: dict[str, list[tuple[str, list[str] | None, list[str] | None]]] = {
    "papers": [
        ("clutrr-robust-synthetic", ["bilstm-mean"], [f"{task}; noise at the end" for task in NOISE]),
        ("tomi-table3", ["relnet-lstm", "memnn-narrow", "entnet-source"], ["ToMi, published"]),
        ("tomi-table1", BELIEF, ["ToMi, proved"]),
        ("clutrr-settings", ["bilstm-mean-paper", "mac-no-dropout"], None),
        ("tomi-matched", None, None),
        ("tom-k-plain", None, None),
        ("tom-k-orders", None, None),
        ("clutrr-robust-synthetic", ["bilstm-mean", "gat", "mac"], NOISE),
        ("tomi-growth", BELIEF, None),
        ("tomi-table1", [*PLAIN, *BELIEF], ["ToMi, proved", "ToM-easy", "ToM"]),
        ("clutrr-settings", None, None),
        ("tomi-table2", ["memnn-last10", "memnn-last5", "memnn-narrow", "memnn-plain", "memnn"], ["ToM"]),
        ("clutrr-generalization", ["lstm", "rmc"], ["trained on k = 2, 3, published"]),
        ("clutrr-robust", ["lstm", "rmc"], ["clean, published", "supporting, published", "disconnected, published"]),
    ],
    "kinship": [
        ("clutrr-robust", ["gat", "bilstm-mean", "mac"], NOISE),
        ("clutrr-generalization", ["gat", "bilstm-attention", "mac", "rn"], LENGTHS),
        ("clutrr-robust", ["bilstm-attention", "rn", "lstm"], NOISE),
        ("clutrr-generalization", ["bilstm-mean", "lstm"], LENGTHS),
        ("clutrr-embeddings", None, None),
    ],
    "synthetic": [
        ("clutrr-robust-synthetic", ["bilstm-mean", "mac", "gat"], [f"{task}; noise at the end" for task in NOISE]),
        ("clutrr-robust-synthetic", ["gat", "bilstm-mean", "mac", "rn", "bilstm-attention"], NOISE),
        ("clutrr-robust-synthetic", ["rn", "bilstm-attention"], [f"{task}; noise at the end" for task in NOISE]),
    ],
}


def start_sharing() -> None:
    """Let the kernels of several processes run at the same time, if the driver's service for it works here."""
    if shutil.which("nvidia-cuda-mps-control") is None:
        print("no service to share the GPU; processes take turns", flush=True)
        return
    subprocess.run(["nvidia-cuda-mps-control", "-d"], check=False, timeout=20)
    try:
        check = "import torch; print(float(torch.ones(9, device='cuda').sum()))"
        both = [subprocess.Popen([sys.executable, "-c", check]) for _ in range(2)]
        ended = [each.wait(timeout=60) for each in both]
        if any(ended):
            raise OSError("a process failed")
        print("processes share the GPU", flush=True)
    except (subprocess.SubprocessError, OSError) as error:
        print(f"processes take turns on the GPU ({error})", flush=True)
        subprocess.run(["nvidia-cuda-mps-control"], input=b"quit", check=False, timeout=20)


def work(number: int, alone: bool, chosen: str, published: str, out: Path, until: float, device: str) -> None:
    """Do what no other process does, in the order of a list; end with an error if something fails that should not."""
    os.environ["OMP_NUM_THREADS"] = "2"
    if alone:
        os.environ["CUDA_MPS_PIPE_DIRECTORY"] = "/nowhere"  # takes turns on the GPU
    import storyproof

    for name, models, rows in LISTS[chosen]:
        minutes = (until - time.monotonic()) / 60
        if minutes <= 0:
            return
        try:
            storyproof.experiment(
                name,
                out=out,
                published=published,
                device=device,
                models=models,
                only=rows,
                keep=True,
                minutes=minutes,
                progress=lambda line: print(f"{number} {line}", flush=True),
            )
        except StoryproofError as error:
            print(f"{number} {name}: {error}", flush=True)
        except Exception:  # such as an error of the GPU, after which this process cannot use it
            print(f"{number} {name}: {traceback.format_exc()}", flush=True)
            sys.exit(1)


def pack(out: Path, target: Path) -> None:
    """Pack counts, times and metrics of all trainings, without weights."""
    with tarfile.open(target, "w:gz") as packed:
        for path in sorted((out / "runs").rglob("*")):
            if path.suffix in (".json", ".jsonl") and path.name not in ("run.json", "training.json"):
                packed.add(path, path.relative_to(out))


def main() -> None:
    """Train, and pack the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", choices=LISTS, default="papers", help="what to train")
    parser.add_argument("--published", required=True, help="the folder with published data")
    parser.add_argument("--out", type=Path, required=True, help="where the packed results go")
    parser.add_argument("--minutes", type=float, default=9.0, help="the time for everything")
    parser.add_argument("--workers", type=int, default=4, help="how many processes share the GPU")
    parser.add_argument("--device", default="auto", help="cpu, cuda or auto")
    chosen = parser.parse_args()
    until = time.monotonic() + 60 * chosen.minutes
    if chosen.device != "cpu":
        start_sharing()
    chosen.out.mkdir(parents=True, exist_ok=True)
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "results"
        shutil.copytree(RESULTS, out, ignore=shutil.ignore_patterns("runs"))  # what is up to date stays
        given = (chosen.list, chosen.published, out, until, chosen.device)
        workers = {
            number: context.Process(target=work, args=(number, False, *given)) for number in range(chosen.workers)
        }
        for worker in workers.values():
            worker.start()
        while any(worker.is_alive() for worker in workers.values()) and time.monotonic() < until + 25:
            time.sleep(0.5)
            for number, worker in workers.items():
                if worker.exitcode and time.monotonic() < until:
                    workers[number] = context.Process(target=work, args=(number, True, *given))
                    workers[number].start()
        for worker in workers.values():
            worker.terminate()
            worker.join()
        pack(out, chosen.out / "runs.tgz")


if __name__ == "__main__":
    main()
