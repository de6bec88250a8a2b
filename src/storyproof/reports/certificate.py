"""A certificate: what an audit found, in one object and one page, for the card of a dataset.

It has what a reader needs to repeat it: the hashes of the files, the version and the command.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from storyproof import __version__
from storyproof.audits.audit import by_own_rules
from storyproof.datasets.manifest import file_sha256
from storyproof.findings import AuditReport, FileReport
from storyproof.language.display_names import display_name
from storyproof.reports.numbers import counted

SCHEMA = 1
JSON, PAGE = "certificate.json", "certificate.md"


def certificate_of(
    report: AuditReport, files: Sequence[Path], shortcuts: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the certificate of audited files as plain values.

    Args:
        report: What was found.
        files: The files, in the order of the report.
        shortcuts: What probes reach that do not reason, as `audit --shortcuts` measures it.
    """
    totals = report.totals
    wrong, dependent = totals["wrong_answers"], totals["rule_dependent"]
    judged = totals["judged"]
    return {
        "schema": SCHEMA,
        "storyproof": __version__,
        "command": f"storyproof audit {' '.join(file.name for file in files)}",
        "files": [_file(file, each) for file, each in zip(files, report.files, strict=True)],
        "rows": report.questions,
        "stories": report.stories,
        "judged": judged,
        "coverage": judged / report.questions if report.questions else 0.0,
        "not_understood": dict(report.unread),
        "wrong_under_every_reading": sum(wrong.values()),
        "wrong_by_question": {name: count for name, count in wrong.items() if count},
        "right_under_another_reading": dict(dependent),
        "own_rules": totals.get("own_rules", {}),
        "statuses": dict(report.statuses),
        "conflicts": totals["conflicts"],
        "disagreements": len(report.disagreements),
        "by_field": report.by_field(),
        "shared_by_splits": report.shared,
        "shortcut_ceiling": _ceiling(shortcuts or {}),
    }


def _file(path: Path, report: FileReport) -> dict[str, Any]:
    about = {
        "name": path.name,
        "sha256": file_sha256(path),
        "rows": report.questions,
        "judged": report.totals["judged"],
    }
    return {**about, "set": report.published, "own_rules": list(report.rules)}


def _ceiling(shortcuts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the best that is reached without something that the data claim to test; nothing if none was measured."""
    rows = [each for each in shortcuts.get("rows", ()) if each["shortcut"]]
    if not rows:
        return {}
    best = max(rows, key=lambda each: each["accuracy"]["value"])
    return {"probe": best["name"], **{name: best["accuracy"][name] for name in ("value", "low", "high")}}


def certificate_page(found: Mapping[str, Any], summary: str = "") -> str:
    """Return a certificate as Markdown.

    Args:
        found: The certificate.
        summary: What labels are worth under the set's own rules, in a sentence.
    """
    wrong, dependent = found["wrong_under_every_reading"], sum(found["right_under_another_reading"].values())
    lines = [
        "## Audit certificate",
        "",
        f"{counted(found['judged'], 'label')} of {found['rows']:,} ({_percent(found['coverage'])}) were compared with "
        f"what two independent programs derive from the text: {wrong:,} are wrong under every reading, {dependent:,} "
        "are right under another reading only.",
        *(["", f"{summary}."] if summary else []),
        "",
        "| | |",
        "|---|---|",
        f"| rows, stories | {found['rows']:,}, {found['stories']:,} |",
        f"| not understood | {_list(found['not_understood'])} |",
        f"| wrong under every reading | {_list(found['wrong_by_question'])} |",
        f"| right under another reading | {_list(found['right_under_another_reading'])} |",
        f"| same question, different answers | {found['conflicts']:,} |",
        f"| all disagreements | {_list(found['by_field'])} |",
    ]
    if found["statuses"]:
        lines.append(f"| status of labels | {_list(found['statuses'])} |")
    if ceiling := found["shortcut_ceiling"]:
        reach = f"{_percent(ceiling['low'])} to {_percent(ceiling['high'])}"
        name = display_name(ceiling["probe"])
        lines.append(
            f"| most that a probe reaches without reasoning | {_percent(ceiling['value'])} ({reach}), {name} |"
        )
    for each in found["files"]:
        lines.append(f"| {each['set'] or each['name']} | {each['name']}, SHA-256 `{each['sha256']}` |")
    lines += ["", f"Repeat it with storyproof {found['storyproof']}: `{found['command']}`.", ""]
    return "\n".join(lines)


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"


def _list(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{display_name(name)} {count:,}" for name, count in counts.items()) or "0"


def write_certificate(
    report: AuditReport, files: Sequence[Path], shortcuts: Mapping[str, Any] | None, folder: Path
) -> None:
    """Write the certificate of audited files to a folder, as JSON and as a page; see `certificate_of`."""
    found = certificate_of(report, files, shortcuts)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / JSON).write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (folder / PAGE).write_text(certificate_page(found, by_own_rules(report)), encoding="utf-8")
