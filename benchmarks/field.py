"""The table of the field: every set at hand through `storyproof audit`, for docs/field.md.

`python -m benchmarks.field DIR --json field.json` audits the sets under a folder with published data (nothing of them
is stored but counts), `--page docs/field.md` writes the table into the page, and `--errata errata` writes errata. Where
only a part of a set is at hand, the table says so: the rest is kept to check what is found here.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import storyproof
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
    paths = [folder / name for name in each.files]
    report = storyproof.audit(paths)
    try:
        shortcuts, _ = shortcuts_of([folder / name for name in each.probe or each.files])
    except StoryproofError as error:
        print(f"{each.name}: no shortcuts: {error}")
        shortcuts = {}
    return certificate_of(report, audited_files(paths), shortcuts)


def row_of(each: Set, found: Mapping[str, Any]) -> str:
    """Return a set's row of the table."""
    statuses, ceiling = found["statuses"], found["shortcut_ceiling"]
    wrong, dependent = found["wrong_under_every_reading"], sum(found["right_under_another_reading"].values())
    if statuses:
        wrong, dependent = statuses.get("contradicted", 0) + statuses.get("impossible", 0), statuses.get("ambiguous", 0)
    own = list(found["own_rules"].values())
    right = f"{sum(kinds.get('right', 0) for kinds in own):,}" if own else "none stated"
    values = (
        each.name,
        each.part,
        f"{found['rows']:,}",
        f"{100 * found['coverage']:.1f}%",
        f"{wrong:,}",
        f"{dependent:,}",
        right,
        f"{found['conflicts']:,}",
        f"{100 * ceiling['value']:.1f}" if ceiling else "–",
        f"`storyproof audit {' '.join(Path(name).name for name in each.files)}`",
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
    return "\n".join([*lines, *(row_of(each, results[each.name]) for each in SETS if each.name in results)])


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
    if chosen.page is not None:
        write_page(chosen.page, results)


if __name__ == "__main__":
    main()
