"""The verb `study new`: draw the items of a study and create it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from storyproof.datasets.reading import find_source
from storyproof.errors import ConfigError
from storyproof.evaluation.provenance import data_identity
from storyproof.io.bounded_input import kind_of, name_of
from storyproof.study.admin import hash_password
from storyproof.study.design import SOLVE, StudyDesign
from storyproof.study.folder import Study, create_study, new_password
from storyproof.study.items import StudyItems, default_family, draw_questions, draw_tasks
from storyproof.study.messages import texts_of


def new_study(
    folder: str | Path,
    settings: Mapping[str, Any],
    *,
    data: str | Path | None = None,
    split: str | None = None,
    family: str = "",
    database: str = "",
    password: str = "",
    now: Callable[[], float] = time.time,
) -> tuple[Study, str]:
    """Create a study; return it, and the password of its dashboard.

    Args:
        folder: Its folder, which does not exist yet; its name is the name of the study.
        settings: Fields of `StudyDesign`, besides `name` and `source`.
        data: The dataset with the questions (solve).
        split: Which split of it.
        family: The family whose facts are paraphrased (paraphrase); by default the first that collects paraphrases.
        database: The address of a PostgreSQL database; by default SQLite in the folder.
        password: The password of the dashboard; by default a random one.
        now: The clock.

    Raises:
        ConfigError: If a setting cannot be, or the folder exists.
        DataError: If the data cannot be read.
    """
    place = Path(folder)
    design = StudyDesign(name=place.name, **settings)
    if kind_of(place):
        raise ConfigError(f"{place} exists; choose another name, or remove it.")
    password = password or new_password()
    hashed = hash_password(password)
    if design.kind == SOLVE:
        if data is None:
            raise ConfigError("a solve study needs questions: give a dataset with --data.")
        source = find_source(data, split)
        about = {"path": name_of(data), "split": source.split, "data": data_identity(source)}
        design = replace(design, source=about)
        say = texts_of(design)
        items = draw_questions(design, source, lambda answer: say.plain("attention", answer=answer))
    else:
        if data is not None:
            raise ConfigError("a paraphrase study draws its facts itself; leave out --data.")
        family = family or default_family()
        design = replace(design, source={"family": family})
        items = draw_tasks(design, family)
    study = create_study(place, design, StudyItems(items), database=database, now=now)
    study.set_password(hashed)
    return study, password
