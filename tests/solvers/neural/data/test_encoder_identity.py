import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

from storyproof.errors import ConfigError
from storyproof.solvers.neural.data import encoder_identity as module
from storyproof.solvers.neural.data.encoder_identity import encoder_identity

FILES = ("config.json", "tokenizer.json", "tokenizer_config.json", "vocab.txt", "model.safetensors")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "encoder")


def make(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in FILES:
        (folder / name).write_text(f"what {name} says")
    return folder


def test_is_of_the_files_wherever_they_lie(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = encoder_identity(folder)
    assert len(bytes.fromhex(known)) == 32
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(folder)
    same = ["encoder", "./encoder/", str(folder), "link", make(tmp_path / "else" / "where")]
    assert {encoder_identity(each) for each in same} == {known}


@pytest.mark.parametrize("name", FILES)
def test_every_file_counts(folder: Path, name: str) -> None:
    known = encoder_identity(folder)
    content = (folder / name).read_text()
    (folder / name).write_text(content + " today")
    assert encoder_identity(folder) != known
    (folder / name).unlink()
    assert encoder_identity(folder) != known
    (folder / name).write_text(content)
    assert encoder_identity(folder) == known


def test_exchanged_contents_count(folder: Path) -> None:
    known = encoder_identity(folder)
    first, second = folder / "vocab.txt", folder / "tokenizer.json"
    told = first.read_text(), second.read_text()
    second.write_text(told[0])
    first.write_text(told[1])
    assert encoder_identity(folder) != known


@pytest.mark.parametrize("name", ["pytorch_model-00001-of-00002.bin", "merges.txt", "spiece.model", "vocab.json"])
def test_other_forms_of_weights_and_vocabularies_count(folder: Path, name: str) -> None:
    known = encoder_identity(folder)
    (folder / name).write_text("more")
    assert encoder_identity(folder) != known


@pytest.mark.parametrize("name", ["README.md", ".gitattributes", "training_args.bin", "modules.json", "model.onnx"])
def test_what_lies_beside_does_not_count(folder: Path, name: str) -> None:
    known = encoder_identity(folder)
    (folder / name).write_text("more")
    (folder / ".cache").mkdir()
    (folder / "vocab.d").mkdir()
    assert encoder_identity(folder) == known


def test_what_is_no_folder_is_its_name(tmp_path: Path) -> None:
    assert encoder_identity("bert-base-uncased") == "bert-base-uncased"
    assert encoder_identity(tmp_path / "nowhere") == str(tmp_path / "nowhere")


def test_file_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: object) -> None:
        raise PermissionError("Permission denied")

    monkeypatch.setattr(hashlib, "file_digest", fail)
    with pytest.raises(ConfigError, match=r"the encoder in .* cannot be read: .*; give --encoder another folder"):
        encoder_identity(folder)


def test_needs_no_torch() -> None:
    code = f"import sys, {module.__name__}; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
