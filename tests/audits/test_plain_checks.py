"""Hashes of whole columns: those of each text without what does not matter."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from storyproof.audits.duplicates import hash_of
from storyproof.audits.plain_checks import PlainChecks
from storyproof.formats.format import with_places

_SPACE = st.sampled_from([" ", "  ", "\n", "\n\n", "\t", "\r\n", "\x0b", "\x0c", "\x1c", "\x1f", "\u00a0", "\u2003"])
_WORDS = st.sampled_from(["Ada", "ada", "the", "BOX.", "***", "-", "=#~", "a-b", "*x", "Straße", "STRASSE", "K", "ﬁ"])
_TEXTS = st.one_of(
    st.text(max_size=12),
    st.lists(st.one_of(_SPACE, _WORDS), max_size=8).map("".join),
    st.lists(_WORDS, max_size=6).map(" ".join),
)


def _plain(text: str, *, is_story: bool) -> str:
    """Return a text without what does not matter, as the module describes it."""
    words = [word for word in text.split() if not (is_story and set(word) <= set("*-_=#~"))]
    return " ".join(words).casefold()


@given(rows=st.lists(st.tuples(_TEXTS, _TEXTS), min_size=1, max_size=12), is_coded=st.booleans())
def test_columns_are_hashed_as_their_texts(rows: list[tuple[str, str]], is_coded: bool) -> None:
    stories, questions = (pa.array(texts, pa.string()) for texts in zip(*rows, strict=True))
    coded = stories.dictionary_encode() if is_coded else stories
    answers = pa.array([f"answer {number}" for number in range(len(rows))])
    table = pa.table({"id": answers, "story": coded, "question": questions, "answer": answers})
    checks = PlainChecks("file")
    assert not list(checks.check(with_places(table, 0)))
    hashes = checks.hashes()
    odd = 0x9E3779B97F4A7C15
    for (story, question), story_hash, question_hash in zip(rows, hashes.stories, hashes.questions, strict=True):
        plain = _plain(story, is_story=True), _plain(question, is_story=False)
        assert int(story_hash) == hash_of(plain[0])
        expected = (hash_of(plain[0]) * odd + hash_of(plain[1])) % (1 << 64) if any(plain) else 0
        assert int(question_hash) == expected
    assert hashes.answers.tolist() == [hash_of(each) for each in answers.to_pylist()]
    assert np.array_equal(hashes.splits, np.full(len(rows), -1))


def test_absent_texts_count_as_empty() -> None:
    table = pa.table({name: pa.array(["x", None], pa.string()) for name in ("id", "story", "question", "answer")})
    checks = PlainChecks("file")
    list(checks.check(with_places(table, 0)))
    assert checks.hashes().stories.tolist() == [hash_of("x"), hash_of("")]
    assert checks.hashes().questions[1] == 0


def test_every_space_is_taken_away_in_every_script() -> None:
    """Texts that are not in ASCII are compared as columns, too, unless they have other spaces than single ones."""
    spaces = [chr(code) for code in range(0x3100) if chr(code).isspace()]
    texts = [
        f"{start}{space}{end}" for space in spaces for start, end in (("É", "x"), ("", "é"), ("é", ""), ("é ", "É"))
    ]
    texts += ["é - x", "É\nÀ\nx", "ß\n --- \nÀ", "İ x", "é"]
    table = pa.table({name: pa.array(texts) for name in ("id", "story", "question", "answer")})
    checks = PlainChecks("file")
    assert not list(checks.check(with_places(table, 0)))
    assert checks.hashes().stories.tolist() == [hash_of(_plain(each, is_story=True)) for each in texts]
