"""Same seed, same content, for ever: a change here is a new version of the benchmark, and the old one stays."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

import storyproof

CONTENT: dict[str, tuple[str, dict[str, Any], str]] = {
    "tomi": (
        "tomi",
        {"train": 999, "val": 99, "test": 99, "seed": 7},
        "eccefdd2dbc36ab0c6f9ea95cdba62d6870576f386ad50a110fa1d01ce98f781",
    ),
    "tomi, two blocks": (
        "tomi",
        {"train": 9999, "seed": 1},
        "608efa2f710d46c448ad656ab334ebb696ad7e1ee84d822f74ad5d191d6f074e",
    ),
    "tomi, disjoint": (
        "tomi",
        {"train": 99, "test": 99, "seed": 7, "disjoint": ("agents", "rooms")},
        "61d234e7ac74b671380b3f328671a22db505e231c945544974536c7d82a91aaa",
    ),
    "tomi-matched": (
        "tomi-matched",
        {"train": 999, "val": 99, "test": 99, "seed": 7},
        "c57aab8f6e71cc0c8212033e394d8f0532f640dff786d32a5915575f5273e032",
    ),
    "tomi-matched, two blocks, disjoint": (
        "tomi-matched",
        {"train": 6999, "test": 99, "seed": 1, "disjoint": ("agents", "objects")},
        "703025f23cbb0f0701d00f69a505e9f7f8dff470f402799605880c15a0c74fba",
    ),
    "tom-babi": (
        "tom-babi",
        {"train": 120, "test": 120, "seed": 7},
        "5f981668346c1ba6a802d1db8de68e62e5d0dc1847038e7c65ebbe42d08f85b0",
    ),
    "tom-babi-easy": (
        "tom-babi-easy",
        {"train": 120, "test": 120, "seed": 7},
        "e3a1abe3c39f6c505b729b4ff75c4cb61f0ea52cda01830adda8ddb7d2dcf399",
    ),
    "tom-babi-easy, noisy": (
        "tom-babi-easy",
        {"test": 120, "seed": 3, "noise": 0.5},
        "07d750c908611ca965a5954237206d1e94c54f42a30fe1adc896fa89729afa26",
    ),
    "clutrr": (
        "clutrr",
        {"train": 300, "val": 60, "test": 20, "seed": 7},
        "481738d203974c771c0e96f08680fc0e7438fe9c97e9853ff70e899a4cd15468",
    ),
    "clutrr, published, all noise": (
        "clutrr",
        {"train": 200, "test": 20, "seed": 3, "reading": "published", "task": "all", "test_k": (2, 3, 4)},
        "4260be591e3ef361ad97e26fd95a0bcd3612e708a537a1eff4358f8fa2aa0c0f",
    ),
    "clutrr, cloze and synthetic": (
        "clutrr",
        {"test": 40, "seed": 1, "task": "mixed", "test_k": (2, 5), "text": "synthetic", "cloze": True},
        "e0d5f07d44f8caaa412482a4d634f9796ce57978d3141df9b1a20a609b47e5fc",
    ),
}
TEXT = {
    "tomi jsonl": ("tomi", "0dd088fecd90641e689650e262eba0bd75b8ae8dcb4f98c7e333578a01b96a1e"),
    "tomi babi": ("tomi", "f34a430d840e98faa976b37b9014b8bcc5eda8c0e5a9b22045ddbde722e6477a"),
    "tomi-matched jsonl": ("tomi-matched", "8eb0e2bd2c588a9fbcd61cb4cd17e6ba353f5bc38346163512316e1515eaf94f"),
    "tomi-matched babi": ("tomi-matched", "9283be22439148bb9b3647c08bf21ae90405229db66077635aed7d517b03ad8f"),
    "tom-babi jsonl": ("tom-babi", "837deb770521185f3a9e0a8e00869cf768eaea1a996bdc0f971eb9729d708439"),
    "tom-babi babi": ("tom-babi", "d7a474f52af44daa1d2a8a017d7eb53bcd8bb9412bc46d93c3798973898438a9"),
    "tom-babi-easy jsonl": ("tom-babi-easy", "f942542e989d963b685b65b9cbaa0f30faf0711a80fcc8f2f62344545dd70dc1"),
    "tom-babi-easy babi": ("tom-babi-easy", "6e9745e5899f02228e86350a51feca70ce603ca6b1035ba4f67c1c7ee7932f20"),
    "clutrr jsonl": ("clutrr", "0631286c4ec287efe0b4e63352d23b6f7040f448205e6a7fae05228e6887933f"),
    "clutrr csv": ("clutrr", "8b4fdf7b1770dad7035ac90c7bae854b4b7729cefefd2ef86b761abb320f97d9"),
}


@pytest.mark.parametrize("name", CONTENT)
def test_content_is_what_it_was(name: str, tmp_path: Path) -> None:
    benchmark, options, expected = CONTENT[name]
    manifest = storyproof.generate(benchmark, **options, out=tmp_path / "data")
    found = {split: entry["content_sha256"] for split, entry in manifest["splits"].items()}
    assert hashlib.sha256(repr(sorted(found.items())).encode()).hexdigest() == expected


@pytest.mark.parametrize("name", TEXT)
def test_text_files_are_the_same_bytes(name: str, tmp_path: Path) -> None:
    benchmark, expected = TEXT[name]
    storyproof.generate(benchmark, train=24, test=24, seed=7, format=name.split()[1], out=tmp_path / "data")
    files = sorted(path for path in (tmp_path / "data").iterdir() if path.name != "manifest.json")
    total = hashlib.sha256(b"".join(path.name.encode() + b"\0" + path.read_bytes() for path in files))
    assert total.hexdigest() == expected
