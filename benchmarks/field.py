"""The table of the field: every set at hand through `storyproof audit`, for docs/field.md.

`python -m benchmarks.field DIR --json field.json` audits the sets under a folder with published data (nothing of them
is stored but counts), `--page docs/field.md` writes the table into the page, and `--errata FOLDER` writes errata (those
that come with storyproof are in src/storyproof/audits/errata). Where only a part of a set is at hand, the table says
so: the rest is kept to check what is found here. `--generators` audits generators from the package index (`make
test-generators` makes an environment that has them).
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import storyproof
from storyproof.audits import generators
from storyproof.audits.audit import audited_files
from storyproof.audits.errata import errata_of
from storyproof.errors import StoryproofError
from storyproof.reports.audit_sections import shortcuts_of
from storyproof.reports.certificate import certificate_of

BEGIN, END = "<!-- table of the field -->", "<!-- end of the table -->"


class Set(NamedTuple):
    """A published set.

    Attributes:
        name: What the table calls it.
        part: Which part of it is at hand.
        where: Where it can be had.
        files: Its files, below the folder with published data.
        probe: The files that shortcuts are measured on; by default all.
    """

    name: str
    part: str
    where: str
    files: Sequence[str]
    probe: Sequence[str] | None = None


_TOMI = "facebookresearch/ToMi"
_CLUTRR = "CLUTRR (Sinha et al. 2019), and uclnlp/ctp"
SETS = (
    Set("Hi-ToM", "half", "ying-hui-he/Hi-ToM_dataset, `Hi-ToM_data.json`", ["field/Hi-ToM_data.json"]),
    Set("Hi-ToM of AutoToM", "half", "SCAI-JHU/AutoToM, `benchmarks/data`", ["field/Hi-ToM_autotom.json"]),
    Set("ToM-RL, test", "half", "bigai-ai/ToM-RL, `data/cleaned_tom`", ["field/ToM_test_HiExTi_hint.parquet"]),
    Set("ToM-RL, train", "half", "bigai-ai/ToM-RL, `data/cleaned_tom`", ["field/ToM_train_HiEx_hint.parquet"]),
    Set("SimToM", "400 of 1,000", "shawnsihyunlee/simulatedtom", ["field/simtom_test_balanced.jsonl"]),
    Set("Percept-ToMi", "half", "chanijung/PercepToM, `dataset`", ["field/Percept-ToMi.csv"]),
    Set("ToMBench, false beliefs", "half", "zhchen18/ToMBench, `data`", ["field/tombench_false_belief.jsonl"]),
    Set("ToMi, train", "all", _TOMI, ["tomi/fb_all_train.txt"]),
    Set("ToMi, val", "all", _TOMI, ["tomi/fb_all_val.txt"]),
    Set("ToMi, regenerated", "300 stories", f"{_TOMI}, its current code", ["tomi-regenerated/sample.txt"]),
    Set("ToM-bAbI", "15 files", "kayburns/tom-qa-dataset", ["tom-babi"]),
    Set("CLUTRR, gen_m3", "100 rows", "uclnlp/ctp, `data`", ["field/gen_m3_excerpt.csv"]),
    Set("CLUTRR 089907f8", "all", _CLUTRR, ["clutrr/data_089907f8"]),
    Set("CLUTRR 7c5b0e70", "all", _CLUTRR, ["clutrr/data_7c5b0e70"]),
    Set("CLUTRR 06b8f2a1", "all", _CLUTRR, ["clutrr/data_06b8f2a1"]),
    Set("CLUTRR d83ecc3e", "all", _CLUTRR, ["clutrr/data_d83ecc3e"]),
)


class Generator(NamedTuple):
    """A generator from the package index.

    Attributes:
        name: What the table calls it.
        where: Where it can be had.
        function: Its function in `examples/generators/public_generators.py`.
        dials: What it is called with.
        samples: How many are drawn.
    """

    name: str
    where: str
    function: str
    dials: Mapping[str, range]
    samples: int = 2_000

    @property
    def command(self) -> str:
        """The command that audits it, in `examples/generators`."""
        dials = " ".join(f"--dial {name}={values[0]}..{values[-1]}" for name, values in self.dials.items())
        return f"storyproof audit --generator public_generators:{self.function} {dials} --samples {self.samples}"


_CORE = "PyPI, `reasoning-core` 0.5.0"
GENERATORS = (
    Generator(
        "reasoning-gym, `family_relationships`",
        "PyPI, `reasoning-gym` 0.1.25",
        "family_relationships",
        {"family_size": range(4, 9)},
    ),
    Generator(
        "reasoning-core, `kinship_relation_resolution`", _CORE, "kinship_relation_resolution", {"level": range(4)}
    ),
    Generator("reasoning-core, `belief_tracking`", _CORE, "belief_tracking", {"level": range(3)}, 1_000),
    Generator(
        "phantom-wiki, its relations", "PyPI, `phantom-wiki` 1.0.3", "phantom_wiki", {"people": range(5, 16)}, 500
    ),
)
EXAMPLES = Path(__file__).parent.parent / "examples" / "generators"


def audit_generator(each: Generator) -> dict[str, Any]:
    """Return the counts of a generator, in the form of a certificate."""
    sys.path.insert(0, str(EXAMPLES))
    function = getattr(import_module("public_generators"), each.function)
    drawn: list[dict[str, str]] = []

    @functools.wraps(function)
    def sample(**settings: Any) -> tuple[str, str, str]:
        story, question, answer = function(**settings)
        drawn.append({"story": story, "question": question, "answer": answer})
        return story, question, answer

    report = generators.audit_generator(sample, samples=each.samples, dials=each.dials)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in drawn), encoding="utf-8")
        found = audit_files(each.name, [path])
    return {
        "rows": report.questions,
        "coverage": report.judged / max(1, report.questions),
        "wrong_under_every_reading": report.counts[generators.WRONG],
        "right_under_another_reading": {"any": report.counts[generators.DEPENDENT]},
        "own_rules": {},
        "statuses": {},
        "conflicts": report.conflicts,
        "shortcut_ceiling": found["shortcut_ceiling"],
        "unread_reasons": dict(report.unread_reasons.most_common(5)),
    }


def write_errata(folder: Path, each: Set, errata: Path) -> int:
    """Write the errata of each file of a set to a folder; return how many there are."""
    files = audited_files([folder / name for name in each.files])
    count = 0
    for file, report in zip(files, storyproof.audit(files).files, strict=True):
        found = errata_of(file, report, each.name, each.part)
        if found.entries:
            found.write(errata / f"{file.stem}.jsonl")
        count += len(found.entries)
    return count


def audit_set(folder: Path, each: Set) -> dict[str, Any]:
    """Return the certificate of a set, with what its shortcuts reach."""
    probed = [folder / name for name in each.probe or each.files]
    return audit_files(each.name, [folder / name for name in each.files], probed)


def audit_files(name: str, paths: Sequence[Path], probed: Sequence[Path] = ()) -> dict[str, Any]:
    """Return the certificate of some files, with what shortcuts reach on them or on others."""
    report = storyproof.audit(paths)
    try:
        shortcuts, _ = shortcuts_of(list(probed or paths))
    except StoryproofError as error:
        print(f"{name}: no shortcuts: {error}")
        shortcuts = {}
    return certificate_of(report, audited_files(paths), shortcuts)


def row_of(each: Set | Generator, found: Mapping[str, Any]) -> str:
    """Return the row of a set or a generator."""
    statuses, ceiling = found["statuses"], found["shortcut_ceiling"]
    wrong, dependent = found["wrong_under_every_reading"], sum(found["right_under_another_reading"].values())
    if statuses:
        wrong, dependent = statuses.get("contradicted", 0) + statuses.get("impossible", 0), statuses.get("ambiguous", 0)
    own = list(found["own_rules"].values())
    right = f"{sum(kinds.get('right', 0) for kinds in own):,}" if own else "none stated"
    if isinstance(each, Generator):
        command = each.command
    else:
        command = f"storyproof audit {' '.join(Path(name).name for name in each.files)}"
    values = (
        each.name,
        f"{each.samples:,} samples" if isinstance(each, Generator) else each.part,
        f"{found['rows']:,}",
        f"{100 * found['coverage']:.1f}%",
        f"{wrong:,}",
        f"{dependent:,}",
        right,
        f"{found['conflicts']:,}",
        f"{100 * ceiling['value']:.1f}" if ceiling else "–",
        f"`{command}`",
        each.where,
    )
    return f"| {' | '.join(values)} |"


HEADINGS = (
    *("set", "at hand", "rows", "judged", "wrong under every reading", "right under another reading only"),
    *("right under its own rules", "conflicts", "shortcuts reach", "command", "where to get it"),
)


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of all sets."""
    lines = [f"| {' | '.join(HEADINGS)} |", f"|{'---|' * len(HEADINGS)}"]
    return "\n".join(
        [*lines, *(row_of(each, results[each.name]) for each in (*SETS, *GENERATORS) if each.name in results)]
    )


def write_page(path: Path, results: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the table into a page, between its marks."""
    text = path.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    put: Callable[[re.Match[str]], str] = lambda match: f"{BEGIN}\n{table(results)}\n{END}"  # noqa: E731
    path.write_text(pattern.sub(put, text), encoding="utf-8")


def main() -> None:
    """Audit the sets and write what is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("published", type=Path, nargs="?", help="the folder with published data")
    parser.add_argument("--sets", nargs="*", choices=[each.name for each in SETS], help="which sets; by default all")
    parser.add_argument("--json", type=Path, default=Path("docs/field.json"), help="the file with the counts")
    parser.add_argument("--errata", type=Path, help="write errata to this folder instead")
    parser.add_argument("--page", type=Path, help="the page that the table is written into")
    parser.add_argument("--generators", action="store_true", help="audit generators that are installed")
    chosen = parser.parse_args()
    results: dict[str, Any] = json.loads(chosen.json.read_text()) if chosen.json.exists() else {}
    for each in SETS if chosen.published else ():
        if chosen.sets and each.name not in chosen.sets:
            continue
        if chosen.errata is not None:
            print(f"{each.name}: {write_errata(chosen.published, each, chosen.errata):,} errata", flush=True)
            continue
        begun = time.process_time()
        results[each.name] = audit_set(chosen.published, each)
        results[each.name].pop("shared_by_splits")
        chosen.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(f"{row_of(each, results[each.name])} {time.process_time() - begun:.0f} s", flush=True)
    for each in GENERATORS if chosen.generators else ():
        results[each.name] = audit_generator(each)
        chosen.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(row_of(each, results[each.name]), flush=True)
    if chosen.page is not None:
        write_page(chosen.page, results)


if __name__ == "__main__":
    main()
