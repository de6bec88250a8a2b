"""Folders for Hugging Face and samples for Inspect, as far as storyproof itself writes and reads them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import storyproof
from storyproof.catalog import names
from storyproof.integrations.hf_format import _size
from tests.cli.invocation import run

BENCHMARKS = sorted(names("benchmark"))


def read_card(folder: Path) -> tuple[dict[str, object], str]:
    _, header, text = (folder / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(header), text


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_folder_for_hugging_face_says_what_it_is(tmp_path: Path, benchmark: str) -> None:
    data = tmp_path / "data"
    manifest = storyproof.generate(benchmark, train=12, test=12, seed=7, out=data, format="hf")
    assert {path.name for path in data.iterdir()} == {*manifest["files"], "manifest.json"}
    assert set(manifest["files"]) == {"README.md", "croissant.json", "test.parquet", "train.parquet"}
    header, text = read_card(data)
    assert header["license"] == "apache-2.0"
    assert header["configs"] == [
        {
            "config_name": "default",
            "data_files": [
                {"split": "train", "path": "train.parquet"},
                {"split": "test", "path": "test.parquet"},
            ],
        }
    ]
    for entry in manifest["splits"].values():
        assert f"| {entry['stories']:,} | {entry['questions']:,} |" in text
    for reading in manifest["readings"]:
        assert f"- `{reading}`: " in text
    assert "Known artefacts" in text
    assert "storyproof verify" in text
    croissant = json.loads((data / "croissant.json").read_text(encoding="utf-8"))
    [canary] = [line for line in text.splitlines() if "canary GUID" in line]
    assert canary in croissant["description"]
    assert {each["name"]: each["sha256"] for each in croissant["distribution"]} == {
        name: manifest["files"][name]["sha256"] for name in ("test.parquet", "train.parquet")
    }
    assert [each["name"] for each in croissant["recordSet"]] == ["train", "test"]


@pytest.mark.parametrize("form", ["hf", "inspect"])
@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_verify_audit_and_load_read_what_was_written(tmp_path: Path, benchmark: str, form: str) -> None:
    expected = storyproof.generate(benchmark, test=12, seed=7).to_pylist()
    storyproof.generate(benchmark, test=12, seed=7, out=tmp_path / "data", format=form)
    assert storyproof.verify(tmp_path / "data").ok
    report = storyproof.audit(tmp_path / "data")
    assert [each.questions for each in report.files] == [len(expected)]
    assert {finding.kind for each in report.files for finding in each.findings} <= {"small_test"}
    assert storyproof.load(tmp_path / "data").to_pylist() == expected


def test_the_same_settings_give_the_same_documents_and_another_seed_another_canary(tmp_path: Path) -> None:
    texts = []
    for number, seed in enumerate((7, 7, 8)):
        storyproof.generate("tomi", test=30, seed=seed, out=tmp_path / str(number), format="hf")
        texts.append([(tmp_path / str(number) / name).read_bytes() for name in ("README.md", "croissant.json")])
    assert texts[0] == texts[1]
    canaries = [text[0].decode().rstrip().rsplit("\n", 1)[-1] for text in texts]
    assert canaries[0] != canaries[2]


def test_a_changed_card_is_noticed_and_not_replaced(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=30, out=tmp_path / "data", format="hf")
    storyproof.generate("tomi", test=33, out=tmp_path / "data", format="hf", force=True)
    with (tmp_path / "data" / "README.md").open("a") as file:
        file.write("Mine.\n")
    found = storyproof.verify(tmp_path / "data")
    assert not found.ok
    assert "README.md differs from the manifest" in str(found.findings)
    with pytest.raises(storyproof.StoryproofError, match=r"changed since: README\.md"):
        storyproof.generate("tomi", test=30, out=tmp_path / "data", format="hf", force=True)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (9_999_999, "1M<n<10M"), (10**11, "100B<n<1T"), (10**12, "n>1T")],
)
def test_size_categories_of_the_hub(rows: int, expected: str) -> None:
    assert _size(rows) == expected


def test_a_sample_whose_input_shows_another_story_is_read_from_its_input(tmp_path: Path) -> None:
    storyproof.generate("tomi", test=3, seed=7, out=tmp_path / "data", format="inspect")
    path = tmp_path / "samples.jsonl"
    sample = json.loads((tmp_path / "data" / "test.jsonl").read_text(encoding="utf-8").splitlines()[0])
    kept = sample["metadata"]["story"].split("\n")
    told = sample["input"][0]["content"].replace("\n".join(kept), "\n".join(kept[:-1]))
    sample["input"][0]["content"] = told
    path.write_text(json.dumps(sample) + "\n", encoding="utf-8")
    [row] = storyproof.load(path, labels="given").to_pylist()
    assert row["story"] == "\n".join(kept[:-1])


def test_audit_fixes_a_wrong_label_of_a_sample(tmp_path: Path) -> None:
    storyproof.generate("clutrr", test=1, seed=7, out=tmp_path / "data", format="inspect")
    path = tmp_path / "rows.jsonl"
    lines = (tmp_path / "data" / "test.jsonl").read_text(encoding="utf-8").splitlines()
    sample = json.loads(lines[0])
    right = sample["target"]
    sample["target"] = "uncle" if right != "uncle" else "aunt"
    path.write_text("\n".join([json.dumps(sample), *lines[1:]]) + "\n", encoding="utf-8")
    report = storyproof.audit(path, fix=tmp_path / "fixed")
    assert any(each.field == "answer" for each in report.files[0].findings)
    fixed = json.loads((tmp_path / "fixed" / "rows.jsonl").read_text(encoding="utf-8").splitlines()[0])
    assert fixed["target"] == right
    assert fixed["metadata"] == sample["metadata"]


def test_where_prints_the_folder_of_the_tasks() -> None:
    done = run("doctor", "--where", "lm-eval")
    assert done.exit_code == 0
    folder = Path(done.stdout.strip())
    own = [name for name in BENCHMARKS if (folder / f"storyproof_{name.replace('-', '_')}.yaml").is_file()]
    assert {"tomi", "clutrr"} <= set(own)
    with pytest.raises(storyproof.StoryproofError, match=r"unknown tool 'excel'\. Known: lm-eval\."):
        storyproof.where("excel")
