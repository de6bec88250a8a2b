from __future__ import annotations

from pathlib import Path

import pytest

import storyproof
from storyproof.engines import make_engine
from storyproof.errors import ConfigError


@pytest.fixture(scope="module")
def halves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of one split."""
    folder = tmp_path_factory.mktemp("halves")
    table = storyproof.generate("tomi", test=90, seed=7)
    for number in range(2):
        part = table.slice(number * 270, 270)
        write_parquet(part, folder / f"test-{number}.parquet")
    return folder


def write_parquet(table: object, path: Path) -> None:
    from storyproof.formats.parquet import ParquetSplit

    writer = ParquetSplit(path.parent, path.stem)
    writer.write(table)
    writer.close()


@pytest.mark.parametrize("model", ["rules", "random", "oracle", "entnet"])
@pytest.mark.parametrize("labels", ["given", "proved"])
def test_files_that_are_answered_apart_give_the_run_of_one_process(
    halves: Path, tmp_path: Path, model: str, labels: str
) -> None:
    if model == "entnet":
        pytest.importorskip("torch")
    one = storyproof.evaluate(model, halves, labels=labels, exclude_memory_reality=True, output_dir=tmp_path / "one")
    with make_engine() as engine:
        two = storyproof.evaluate(
            model, halves, labels=labels, exclude_memory_reality=True, output_dir=tmp_path / "two", engine=engine
        )
    assert one.path is not None
    assert two.path is not None
    assert one.path.name == two.path.name
    assert list(one.predictions) == list(two.predictions)
    first, second = one.about(), two.about()
    for about in (first, second):
        for name in ("started", "seconds"):
            about["run"].pop(name)
    assert first == second


def test_a_run_that_cannot_be_divided_is_refused(halves: Path) -> None:
    with make_engine() as engine:
        with pytest.raises(ConfigError, match="majority looks at all examples at once, so files cannot be answered"):
            storyproof.evaluate("majority", halves, engine=engine)
        with pytest.raises(ConfigError, match="--max-samples is 3, which takes the first ones in order"):
            storyproof.evaluate("rules", halves, max_samples=3, engine=engine)
        with pytest.raises(ConfigError, match="openai/x is a language model, to which one process sends"):
            storyproof.evaluate("openai/x", halves, engine=engine)
