"""What is wrong in CLUTRR's CSV files is found, and mended without touching what is right."""

from __future__ import annotations

import csv
import io
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import DataError, UnknownNameError
from storyproof.families.kinship.audit.audited_row import audit_clutrr_row
from storyproof.families.kinship.checker import ENTAILED, status
from storyproof.families.kinship.clutrr_csv import FORMAT
from storyproof.families.kinship.clutrr_records import COLUMNS, read_clutrr_row, read_records
from storyproof.families.kinship.prove_labels import entailed_relation
from storyproof.families.kinship.relations import word
from storyproof.families.kinship.row import KinshipRow
from storyproof.findings import ORDER, UNREAD, FileReport, Finding
from storyproof.formats.delimited import split_raw
from tests import auditing
from tests.auditing import fixed_files

Row = dict[str, str]
KEYS = {
    *(
        "rows",
        "stories",
        "judged",
        "unread",
        "conflicts",
        "wrong_answers",
        "rule_dependent",
        "entailed",
        "ambiguous",
        "contradicted",
        "impossible",
        "undefined",
        "proof_errors",
        "wrong_targets",
    ),
    *("wrong_genders", "wrong_names", "revisits", "untyped_noise", "missing_noise", "wrong_edges", "wrong_f_comb"),
    *("wrong_clean_stories", "wrong_statuses", "two_targets", "small_tests", "duplicates"),
}
STATUS_KINDS = {"ambiguous", "contradicted", "impossible", "undefined"}


def row(people: str, chain: str, target: str, *, noise: str = "", **changes: str) -> Row:
    """A row in the published form: 'Ann:female Bob:male …', 'son mother', and the target of the last to the first."""
    told = [each.split(":") for each in people.split()]
    names, words, extra = [name for name, _ in told], chain.split(), len(noise.split())
    k = len(words)
    edges = [(place, place + 1) for place in range(k)] + [
        (place, place + 1) for place in range(k + 1, k + 1 + 2 * extra, 2)
    ]
    types = words + [each for each in noise.split() if each != "?"]
    story = " ".join(
        f"[{names[b]}] is the {types[n] if n < len(types) else 'friend'} of [{names[a]}]."
        for n, (a, b) in enumerate(edges)
    )
    clean = " ".join(f"[{names[n + 1]}] is the {words[n]} of [{names[n]}]." for n in range(k))
    fields = {
        "": "0",
        "id": "one",
        "story": story,
        "query": repr((names[0], names[k])),
        "text_query": "",
        "target": target,
        "text_target": repr([f"[{names[k]}] is the {target} of [{names[0]}]."]),
        "clean_story": clean,
        "proof_state": "[]",
        "f_comb": "-".join(words),
        "task_name": f"task_{4 if extra else 1}.{k}",
        "story_edges": repr(edges),
        "edge_types": repr(types),
        "query_edge": repr((0, k)),
        "genders": ",".join(people.split()),
        "syn_story": "",
        "node_mapping": repr({n: n for n in range(len(names))}),
        "task_split": "train",
    }
    return {**fields, **changes}


def steps(*told: str) -> str:
    """A proof: 'Ann granddaughter Cat: Ann son Bob, Bob daughter Cat' for each step."""
    found = []
    for each in told:
        head, body = each.split(": ")
        found.append({tuple(head.split()): [tuple(part.split()) for part in body.split(", ")]})
    return repr(found)


GRANDMOTHER = row(
    "Ann:female Bob:male Cat:female",
    "son daughter",
    "granddaughter",
    proof_state=steps("Ann granddaughter Cat: Ann son Bob, Bob daughter Cat"),
)
# Whose sister Miriam is, the story says; the published rules make her Brian's.
MIRIAM = row(
    "Brian:male Catriona:female Deborah:female Miriam:female",
    "daughter mother sister",
    "sister",
    proof_state=steps(
        "Brian sister Miriam: Brian daughter Catriona, Catriona aunt Miriam",
        "Catriona aunt Miriam: Catriona mother Deborah, Deborah sister Miriam",
    ),
)
FELIX = row(
    "Khalid:male Freya:female Eduardo:male Felix:male",
    "sister son grandfather",
    "father",
    proof_state=steps(
        "Khalid father Felix: Khalid sister Freya, Freya father Felix",
        "Freya father Felix: Freya son Eduardo, Eduardo grandfather Felix",
    ),
)
IMPOSSIBLE = row(
    "Ann:female Bob:male Cat:female",
    "son daughter",
    "son",
    story_edges="[(0, 1), (1, 0)]",
    query="('Ann', 'Bob')",
    query_edge="(0, 1)",
)


def write(path: Path, *rows: Row, **dialect: Any) -> Path:
    with path.open("w", encoding=dialect.pop("encoding", "utf-8"), newline="") as file:
        columns = list(rows[0]) if rows else list(COLUMNS)
        writer = csv.DictWriter(file, columns, **{"lineterminator": "\n", **dialect})
        writer.writeheader()
        writer.writerows(rows)
    return path


def audit_file(path: Path) -> FileReport:
    """Audit a file whose rows may have ids and stories in common."""
    report = auditing.audit_file(path)
    report.findings = [each for each in report.findings if each.kind != ORDER]
    return report


def read(data: bytes) -> list[Row]:
    return list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def mended(path: Path, ambiguous: str) -> tuple[list[Row], FileReport]:
    """The rows of a fixed file, and what the audit finds in it."""
    data = fixed_files(path, audit_file(path), ambiguous)
    assert list(data) == [path.name]
    folder = path.parent / ambiguous
    folder.mkdir(exist_ok=True)
    (folder / path.name).write_bytes(data[path.name])
    return read(data[path.name]), audit_file(folder / path.name)


def kinds(report: FileReport) -> dict[str, str]:
    return {each.kind: each.field for each in report.findings}


@pytest.fixture(scope="module", params=["strict", "published"])
def generated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / request.param
    settings: dict[str, Any] = {"test": 60, "test_k": (3,), "test_tasks": ("clean", "supporting", "memory"), "seed": 8}
    storyproof.generate("clutrr", reading=request.param, out=folder, format="csv", **settings)
    return folder


def files(folder: Path) -> list[Path]:
    found = sorted(folder.glob("*.csv"))
    assert found
    return found


# Generated data


def test_the_statuses_are_those_of_the_families(generated: Path) -> None:
    for path in files(generated):
        report = audit_file(path)
        assert report.format == "clutrr"
        assert set(report.totals) == KEYS
        statuses = Counter(status(case.genders, case.facts, case.query) for case in cases(path))
        wrong = [each.row for each in report.findings if each.kind in STATUS_KINDS]
        assert {name: report.totals[name] for name in statuses} == dict(statuses)
        assert report.totals["rows"] == sum(statuses.values()) == 60
        assert len(wrong) == 60 - statuses[ENTAILED]
        assert set(kinds(report)) <= {*STATUS_KINDS, "consequence", "small_test", "duplicate"}


def cases(path: Path) -> list[KinshipRow]:
    records = read_records(path)
    header = next(records).cells
    found = []
    for record in records:
        row = audit_clutrr_row(read_clutrr_row(path, record, header)).row
        assert row.asked is not None
        assert row.answer is not None
        found.append(row)
    return found


def test_what_is_expected_is_entailed(generated: Path) -> None:
    for path in files(generated):
        told = cases(path)
        for erratum in audit_file(path).findings:
            if erratum.kind in STATUS_KINDS:
                case = told[erratum.row]
                right = entailed_relation(case)
                assert erratum.expected == (word(right, case.genders[case.asked[1]]) if right else "")
                assert erratum.asked == f"task_{path.name.split('_')[0]}"


def test_strict_data_are_clean_and_stay_as_they_are(generated: Path) -> None:
    statuses = Counter[str]()
    for path in files(generated):
        report = audit_file(path)
        if generated.name == "strict":
            assert [each for each in report.findings if each.row >= 0] == []
            for ambiguous in ("drop", "mark"):
                assert fixed_files(path, report, ambiguous) == {path.name: path.read_bytes()}
        statuses.update(report.statuses)
    assert (statuses["ambiguous"] > 0 < statuses["contradicted"]) == (generated.name == "published")


def test_a_fixed_file_audits_clean(generated: Path) -> None:
    for path in files(generated):
        report = audit_file(path)
        beyond = [each for each in report.findings if each.kind in STATUS_KINDS and not each.expected]
        rows, again = mended(path, "drop")
        assert len(rows) == 60 - len(beyond)
        assert again.totals["entailed"] == len(rows)
        assert set(kinds(again)) <= {"small_test", "duplicate"}
        rows, again = mended(path, "mark")
        assert len(rows) == 60
        assert set(kinds(again)) <= {"small_test", "duplicate"}
        marks = {each.row: each.kind for each in beyond}
        assert [each.get("status", ENTAILED) for each in rows] == [marks.get(number, ENTAILED) for number in range(60)]
        marked = path.parent / "mark" / path.name
        assert fixed_files(marked, again) == {path.name: marked.read_bytes()}
        dropped = fixed_files(marked, again, "drop")[path.name]
        assert [each["id"] for each in read(dropped)] == [
            each["id"] for each in rows if each.get("status", ENTAILED) == ENTAILED
        ]


def test_a_fixed_folder_verifies(generated: Path, tmp_path: Path) -> None:
    for path in files(generated):
        if not path.name.startswith("2"):  # with noise the right answer may take more facts than our own chains have
            (tmp_path / path.name).write_bytes(fixed_files(path, audit_file(path), "drop")[path.name])
    result = storyproof.verify(tmp_path)
    assert result.disagreements == []
    assert result.statuses[ENTAILED] == result.questions


def test_only_what_the_errata_say_is_changed(generated: Path) -> None:
    for path in files(generated):
        report = audit_file(path)
        before = path.read_bytes().splitlines(keepends=True)
        after = fixed_files(path, report, "mark")[path.name].splitlines(keepends=True)
        changes = {(each.row, each.field): each for each in report.findings if each.expected}
        assert len(before) == len(after)
        if before[0] != after[0]:
            after = [re.sub(rb",[a-z]+(\r?\n)$", rb"\1", line) for line in after]
        assert before[0] == after[0]
        for number, (one, other) in enumerate(zip(before[1:], after[1:], strict=True)):
            old, new = (split_raw(line.decode())[0] for line in (one, other))
            for place, column in enumerate(COLUMNS):
                if (number, column) not in changes:
                    assert old[place] == new[place]
                else:
                    erratum = changes[number, column]
                    assert next(csv.reader([old[place]])) == [erratum.found]
                    assert next(csv.reader([new[place]])) == [erratum.expected]


# Rows by hand


def test_a_right_row_is_clean(tmp_path: Path) -> None:
    report = audit_file(write(tmp_path / "train.csv", GRANDMOTHER))
    assert report.findings == []
    assert report.totals["entailed"] == 1


def test_a_contradicted_target_is_explained_and_mended(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", GRANDMOTHER, MIRIAM)
    report = audit_file(path)
    assert report.findings[0] == Finding(
        file="train.csv",
        row=1,
        line=3,
        id="one",
        kind="contradicted",
        field="target",
        found="sister",
        expected="sister-in-law",
        reason="in every family that fits, Miriam is Brian's sister-in-law",
        reading="published",
        asked="task_1.3",
        is_claim=False,
        fix="target",
    )
    assert {each.field for each in report.findings[1:]} == {"proof_state", "text_target"}
    assert {each.kind for each in report.findings[1:]} == {"consequence"}
    (first, second), again = mended(path, "drop")
    assert first == GRANDMOTHER
    assert again.findings == []
    assert second == {
        **MIRIAM,
        "target": "sister-in-law",
        "text_target": "['[Miriam] is the sister-in-law of [Brian].']",
        "proof_state": second["proof_state"],
    }
    assert second["proof_state"].startswith("[{('Brian', 'sister-in-law', 'Miriam'): [")


def test_an_ambiguous_target_is_explained_and_dropped_or_marked(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", FELIX, GRANDMOTHER)
    (erratum,) = audit_file(path).findings
    assert (erratum.kind, erratum.found, erratum.expected, erratum.reading) == ("ambiguous", "father", "", "published")
    assert erratum.reason.startswith("in a family that fits, Felix has no named relation to Khalid; ")
    assert mended(path, "drop")[0] == [GRANDMOTHER]
    rows, again = mended(path, "mark")
    assert rows == [{**FELIX, "status": "ambiguous"}, {**GRANDMOTHER, "status": "entailed"}]
    assert again.findings == []
    assert (again.totals["ambiguous"], again.totals["entailed"]) == (1, 1)


def test_an_impossible_story_is_explained(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", IMPOSSIBLE)
    found = [each for each in audit_file(path).findings if each.kind == "impossible"]
    assert [each.reason for each in found] == ["no family fits in which Ann is Bob's daughter, given the facts before"]


CHANGES: dict[str, tuple[Row, dict[str, str], str, str, str | None]] = {
    "a proof that ends elsewhere": (
        GRANDMOTHER,
        {"proof_state": steps("Ann granddaughter Bob: Ann son Cat, Cat daughter Bob")},
        "proof",
        "proof_state",
        GRANDMOTHER["proof_state"],
    ),
    "a proof by no rule": (
        GRANDMOTHER,
        {"proof_state": steps("Ann granddaughter Cat: Ann daughter Bob, Bob daughter Cat")},
        "proof",
        "proof_state",
        GRANDMOTHER["proof_state"],
    ),
    "a proof from what is not stated": (
        MIRIAM,
        {"proof_state": steps("Brian sister Miriam: Brian daughter Catriona, Catriona aunt Miriam")},
        "proof",
        "proof_state",
        None,
    ),
    "no proof": (GRANDMOTHER, {"proof_state": "[]"}, "proof", "proof_state", GRANDMOTHER["proof_state"]),
    "a target that follows by no rule": (GRANDMOTHER, {"target": "mother"}, "target", "target", "granddaughter"),
    "a target that is no relation": (GRANDMOTHER, {"target": "friend"}, "target", "target", "granddaughter"),
    "a target of the wrong gender": (GRANDMOTHER, {"target": "grandson"}, "genders", "target", "granddaughter"),
    "a wrong gender": (
        GRANDMOTHER,
        {"genders": "Ann:female,Bob:female,Cat:female"},
        "genders",
        "genders",
        GRANDMOTHER["genders"],
    ),
    "a relation of the wrong gender": (
        GRANDMOTHER,
        {"edge_types": "['daughter', 'daughter']"},
        "genders",
        "edge_types",
        GRANDMOTHER["edge_types"],
    ),
    "a relation that two columns have otherwise": (
        GRANDMOTHER,
        {"edge_types": "['husband', 'daughter']"},
        "edges",
        "edge_types",
        GRANDMOTHER["edge_types"],
    ),
    "an edge without a relation": (
        GRANDMOTHER,
        {"edge_types": "['son', 'friend']", "f_comb": "son-friend"},
        "edges",
        "edge_types",
        "",
    ),
    "a question about strangers": (GRANDMOTHER, {"query": "('Ann', 'Eve')"}, "names", "query", "('Ann', 'Cat')"),
    "a proof about strangers": (
        GRANDMOTHER,
        {"proof_state": steps("Ann granddaughter Cat: Ann son Eve, Eve daughter Cat")},
        "names",
        "proof_state",
        GRANDMOTHER["proof_state"],
    ),
    "somebody untold": (GRANDMOTHER, {"story": "[Bob] is the son of [Ann]."}, "names", "story", ""),
    "somebody told only": (GRANDMOTHER, {"story": GRANDMOTHER["story"] + " [Eve] left."}, "names", "story", ""),
    "an edge to nobody": (GRANDMOTHER, {"story_edges": "[(0, 1), (1, 3)]"}, "edges", "story_edges", ""),
    "edges that lead nowhere": (GRANDMOTHER, {"story_edges": "[(0, 1), (0, 2)]"}, "edges", "story_edges", ""),
    "other numbers": (GRANDMOTHER, {"query_edge": "(0, 1)"}, "edges", "query_edge", "(0, 2)"),
    "a shorter chain than the task's": (GRANDMOTHER, {"task_name": "task_1.3"}, "edges", "edge_types", ""),
    "other relations": (GRANDMOTHER, {"f_comb": "son-son"}, "f_comb", "f_comb", "son-daughter"),
    "an incomplete clean story": (
        GRANDMOTHER,
        {"clean_story": "[Bob], son of [Ann]"},
        "clean_story",
        "clean_story",
        "",
    ),
    "a mark that is wrong": (GRANDMOTHER, {"status": "ambiguous"}, "status", "status", "entailed"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_each_kind_of_error_is_found_and_mended_if_it_can_be(name: str, tmp_path: Path) -> None:
    start, changes, kind, field, expected = CHANGES[name]
    path = write(tmp_path / "train.csv", {**start, **changes})
    report = audit_file(path)
    found = [each for each in report.findings if (each.kind, each.field) == (kind, field)]
    assert len(found) == 1
    assert found[0].reason
    if expected is not None:
        assert found[0].expected == expected
    if expected:
        assert found[0].found == changes[field]
    for ambiguous in ("drop", "mark"):
        rows, again = mended(path, ambiguous)
        assert not STATUS_KINDS & set(kinds(again))
        lacks_facts = field == "story_edges" and not expected  # from which target and proof could follow
        assert max(again.totals["proof_errors"], again.totals["wrong_targets"]) <= lacks_facts
        if expected:
            assert [each[field] for each in rows] == [expected]
            assert again.findings == []


def test_a_wrong_target_leaves_a_right_proof_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", {**GRANDMOTHER, "target": "mother"})
    assert mended(path, "drop")[0] == [GRANDMOTHER]


def test_a_row_that_asks_about_nobody_is_dropped_or_marked(tmp_path: Path) -> None:
    lost = {**GRANDMOTHER, "query": "('Eve', 'Cat')", "query_edge": "(7, 2)"}
    path = write(tmp_path / "train.csv", lost, GRANDMOTHER)
    report = audit_file(path)
    assert report.totals["undefined"] == 1
    assert mended(path, "drop")[0] == [GRANDMOTHER]
    rows, again = mended(path, "mark")
    assert [each["status"] for each in rows] == ["undefined", "entailed"]
    assert set(kinds(again)) == {"names"}


def test_noise_without_type_or_sentence_is_found(tmp_path: Path) -> None:
    people = "Ann:female Bob:male Cat:female Dan:male Eve:female"
    good = row(people, "son daughter", "granddaughter", noise="wife", proof_state=GRANDMOTHER["proof_state"])
    untyped = row(people, "son daughter", "granddaughter", noise="?", proof_state=GRANDMOTHER["proof_state"])
    untold = {**good, "story": good["story"].replace("[Eve] is the wife of [Dan].", "")}
    path = write(tmp_path / "train.csv", good, untyped, untold)
    report = audit_file(path)
    assert [(each.row, each.kind) for each in report.findings] == [(1, "untyped_noise"), (2, "missing_noise")]
    assert "Eve" in report.findings[0].reason
    assert report.findings[1].found == "no [Dan], no [Eve]"
    assert (report.totals["untyped_noise"], report.totals["missing_noise"]) == (1, 1)
    assert fixed_files(path, report)[path.name] == path.read_bytes()


def test_a_chain_that_passes_somebody_twice_is_found(tmp_path: Path) -> None:
    twice = row(
        "Ann:female Bob:male Cat:female Dee:female",
        "son sister daughter",
        "granddaughter",
        proof_state=steps("Ann granddaughter Dee: Ann son Bob, Bob daughter Dee"),
        story_edges="[(0, 1), (1, 2), (2, 1), (1, 3)]",
        edge_types="['son', 'sister', 'brother', 'daughter']",
        f_comb="son-sister-brother-daughter",
        task_name="task_1.4",
    )
    report = audit_file(write(tmp_path / "train.csv", twice))
    assert [(each.kind, each.reason) for each in report.findings] == [
        ("revisit", "the chain passes Bob more than once")
    ]
    assert report.totals["revisits"] == 1


def test_two_targets_are_counted_but_are_no_error(tmp_path: Path) -> None:
    two = row(
        "Ann:female Bob:male Cat:female Dan:male",
        "husband son grandfather",
        "father-in-law",
    )
    report = audit_file(write(tmp_path / "train.csv", two))
    assert report.totals["two_targets"] == 1


def test_the_same_story_and_question_twice_are_found(tmp_path: Path) -> None:
    report = audit_file(write(tmp_path / "train.csv", GRANDMOTHER, MIRIAM, {**GRANDMOTHER, "id": "two"}))
    (erratum,) = [each for each in report.findings if each.kind == "duplicate"]
    assert (erratum.row, erratum.id, report.totals["duplicates"]) == (2, "two", 1)


@pytest.mark.parametrize("name", ["1.2_test.csv", "train.csv"])
def test_a_small_test_is_found(name: str, tmp_path: Path) -> None:
    report = audit_file(write(tmp_path / name, GRANDMOTHER))
    found = [(each.row, each.kind, each.found) for each in report.findings]
    small = (-1, "small_test", "1 rows, 1 labels, 1 patterns (1 regardless of gender)")
    assert found == ([small] if "test" in name else [])
    split = audit_file(write(tmp_path / "rows.csv", {**GRANDMOTHER, "task_split": "test"}))
    assert split.totals["small_tests"] == 1


# Bytes


DIALECTS: dict[str, dict[str, Any]] = {
    "as published": {},
    "Windows": {"lineterminator": "\r\n"},
    "old Mac": {"lineterminator": "\r"},
    "all quoted": {"quoting": csv.QUOTE_ALL},
    "with a mark of byte order": {"encoding": "utf-8-sig", "lineterminator": "\r\n"},
}


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_kept(name: str, tmp_path: Path) -> None:
    dialect = DIALECTS[name]
    broken = {**GRANDMOTHER, "story": GRANDMOTHER["story"].replace(". ", '.\n"So"\r\n, they say: ')}
    rows = [broken, {**MIRIAM, "id": "Zoë"}, {**FELIX, "syn_story": 'a "quoted" one, with comma'}, {**broken, "": "3"}]
    path = write(tmp_path / "train.csv", *rows, **dialect)
    right = {**rows[1], **{each.field: each.expected for each in audit_file(path).findings if each.row == 1}}
    right["query"] = rows[1]["query"]
    dropped = write(tmp_path / "dropped.csv", rows[0], right, rows[3], **dialect)
    found = fixed_files(path, audit_file(path), "drop")[path.name]
    assert loose(found) == loose(dropped.read_bytes())
    marks = zip([rows[0], right, *rows[2:]], ["entailed", "entailed", "ambiguous", "entailed"], strict=True)
    marked = write(tmp_path / "marked.csv", *({**each, "status": status} for each, status in marks), **dialect)
    found = fixed_files(path, audit_file(path), "mark")[path.name]
    assert loose(found) == loose(marked.read_bytes())


def loose(data: bytes) -> bytes:
    """Without the quotes that a replaced field keeps though it no longer needs them."""
    return data.replace(
        b"\"['[Miriam] is the sister-in-law of [Brian].']\"", b"['[Miriam] is the sister-in-law of [Brian].']"
    )


def test_lines_are_counted_in_the_file(tmp_path: Path) -> None:
    longer = {**GRANDMOTHER, "story": GRANDMOTHER["story"] + "\n\nThe end."}
    path = write(tmp_path / "train.csv", longer, MIRIAM)
    assert audit_file(path).findings[0].line == 5


def test_empty_lines_and_a_missing_last_end_of_line_stay(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", GRANDMOTHER, FELIX)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("\n".join([*lines, "\n"]).rstrip("\n"))
    report = audit_file(path)
    assert [each.row for each in report.findings] == [1]
    fixed = fixed_files(path, report, "mark")[path.name].decode()
    assert fixed.count("\n\n") == path.read_text().count("\n\n") == 2
    assert fixed.endswith("train,ambiguous")
    assert fixed_files(path, report, "drop")[path.name].decode() == "\n".join(lines[:2]) + "\n"


def test_a_file_that_has_changed_since_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", MIRIAM)
    report = audit_file(path)
    write(path, {**MIRIAM, "target": "aunt"})
    with pytest.raises(DataError, match=r"row 0, line 2: target is 'aunt', expected 'sister'"):
        fixed_files(path, report)
    write(path, MIRIAM, FELIX)
    with pytest.raises(DataError, match="another number of rows"):
        fixed_files(path, report)


def test_ambiguous_rows_are_dropped_or_marked_only(tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", MIRIAM)
    with pytest.raises(UnknownNameError, match="Known: drop, mark"):
        fixed_files(path, audit_file(path), "burn")


# Files that cannot be read


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task_name": "task_9.2"}, "task_name is 'task_9.2', expected task_T.k with T from 1 to 7"),
        ({"task_name": "task_1.0"}, "task_name is 'task_1.0'"),
        ({"genders": "Ann:female,Bob"}, "genders is 'Ann:female,Bob', expected 'Name:male' or 'Name:female'"),
        ({"genders": "Ann:female,Ann:male"}, "each name once"),
        ({"story_edges": "[(0, 1), (1,)]"}, "expected a list of at most 50 pairs of numbers"),
        ({"story_edges": "[(0, 1)] * 9"}, "story_edges is '[(0, 1)] * 9'"),
        ({"story_edges": repr([(0, 1)] * 51)}, "a list of at most 50 pairs"),
        ({"edge_types": "['son', 2]"}, "edge_types is '['son', 2]', expected a list of at most 50 relations"),
        ({"edge_types": "{[]: 1}"}, "expected a list"),
        ({"query": "'Ann'"}, "query is ''Ann'', expected a pair of names"),
        ({"query_edge": "(True, 1)"}, "expected a pair of numbers"),
        ({"proof_state": "[{('Ann', 'son'): []}]"}, "expected a list of {(a, r, c): [(a, r1, b), (b, r2, c)]}"),
        ({"proof_state": "(" * 500}, "proof_state is '((((("),
    ],
)
def test_a_field_in_another_form_is_named(changes: Row, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "train.csv", GRANDMOTHER, {**GRANDMOTHER, **changes})
    report = audit_file(path)
    (unread,) = (each for each in report.findings if each.kind == UNREAD)
    assert (unread.row, unread.line, unread.field, unread.fix) == (1, 3, "facts", "")
    assert message in unread.found
    assert (report.unread, report.totals["judged"], report.totals["entailed"]) == ({"facts": 1}, 1, 1)
    assert fixed_files(path, report) == {path.name: path.read_bytes()}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty, expected a header"),
        (b"\n", "line 1: the first line is empty"),
        (b"a,b\n1,2\n", "line 1: it has no column 'id', expected the columns of CLUTRR"),
        (b",".join(name.encode() for name in (*COLUMNS, "story")) + b"\n", "it has 2 columns 'story'"),
        (",".join(COLUMNS).encode() + b"\n1,2\n", "row 0, line 2: it has 2 fields, expected 18 as in the header"),
        (",".join(COLUMNS).encode() + b'\n1,"2\n', "row 0, line 2: found unexpected end of data"),
        (",".join(COLUMNS).encode() + b"\n\xff\n", "row 0, line 2: found bytes that are not valid UTF-8"),
    ],
)
def test_a_file_in_another_form_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "train.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=re.escape(message)):
        auditing.audit_file(path, "clutrr")


def test_a_folder_or_nothing_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.csv"):
        with pytest.raises(DataError, match="cannot read"):
            audit_file(path)


def test_a_header_alone_is_a_file_without_rows(tmp_path: Path) -> None:
    report = audit_file(write(tmp_path / "train.csv"))
    empty = ("unread", "wrong_answers", "rule_dependent")
    assert report.totals == {**dict.fromkeys(KEYS, 0), **{name: {} for name in empty}}
    assert report.findings == []


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2, 3))])
def test_changes_at_random_are_audited_and_mended_or_refused(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    path = write(tmp_path / "train.csv", GRANDMOTHER, MIRIAM, FELIX, IMPOSSIBLE)
    original = path.read_bytes()
    refused = 0
    for number in range(500):
        path.write_bytes(mutated(original, dice))
        if not FORMAT.recognise(path):
            continue  # any other table
        try:
            report = audit_file(path)
        except DataError as error:
            refused += str(path) in str(error)
            continue
        str(report.as_dict()).encode()
        rows, again = mended(path, ("drop", "mark")[number % 2])
        assert not STATUS_KINDS & set(kinds(again))
        assert again.totals["proof_errors"] == again.totals["wrong_targets"] == 0
        assert len(rows) == again.totals["rows"]
    assert 50 < refused < 450


def mutated(data: bytes, dice: random.Random) -> bytes:
    """Change some bytes, or swap, double or cut some; more often than not within a field's words."""
    words = [b"son", b"Ann", b"female", b"sister", b"(0, 1)", b"'", b'"', b",", b"\n", b"\r", b"\x00", b"\\ud800", b"2"]
    for _ in range(dice.randint(1, 3)):
        start = dice.randrange(len(data))
        end = min(len(data), start + dice.choice((0, 1, 1, 2, 5, 40)))
        spot = dice.randrange(4)
        if spot == 0:
            new = bytes(dice.randrange(256) for _ in range(end - start))
        elif spot == 1:
            new = data[start:end] * 2
        else:
            old = dice.choice(words)
            places = [match.start() for match in re.finditer(re.escape(old), data)]
            if places:
                start = dice.choice(places)
                end = start + len(old)
            new = dice.choice(words) if spot == 2 else b""
        data = data[:start] + new + data[end:]
    return data
