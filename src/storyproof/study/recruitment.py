"""Where participants come from, and where they go when they have finished.

A link of the lab's own needs nothing. Prolific opens the study with PROLIFIC_PID, STUDY_ID and SESSION_ID in the
address, and wants participants back with a code. Mechanical Turk shows the study in a frame as an external question,
with assignmentId, hitId, workerId and turkSubmitTo, and wants a form sent back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import token_hex
from urllib.parse import urlencode

from storyproof.errors import ConfigError
from storyproof.study.design import LINK, MTURK, PROLIFIC, StudyDesign
from storyproof.study.participants import Arrival, Participant

_PROLIFIC = "https://app.prolific.com/submissions/complete"
MTURK_HOSTS = ("https://www.mturk.com", "https://workersandbox.mturk.com")
_PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True, slots=True)
class Exit:
    """Where a participant goes at the end.

    Attributes:
        kind: `link`, `prolific` or `mturk`.
        address: Where to; empty for nowhere.
        fields: What a form sends there (Mechanical Turk).
    """

    kind: str
    address: str = ""
    fields: Mapping[str, str] | None = None


def read_arrival(design: StudyDesign, query: Mapping[str, str]) -> Arrival | None:
    """Return who arrives with an address; None for a preview on Mechanical Turk.

    Raises:
        ConfigError: If the address lacks an id, or has one that cannot be.
    """
    if design.recruitment == LINK:
        return Arrival(token_hex(16))
    names = {PROLIFIC: ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"), MTURK: ("workerId", "assignmentId", "hitId")}
    if design.recruitment == MTURK and query.get("assignmentId") == _PREVIEW:
        return None
    person, *others = names[design.recruitment]
    found = {name: query.get(name, "") for name in (person, *others)}
    for name, value in found.items():
        if not _ID.fullmatch(value):
            raise ConfigError(f"the address has no valid {name}; open the study from its page on the site.")
    if design.recruitment == MTURK:
        found["turkSubmitTo"] = query.get("turkSubmitTo", "").rstrip("/")
        if found["turkSubmitTo"] not in MTURK_HOSTS:
            raise ConfigError("the address has no valid turkSubmitTo; open the study from its page on the site.")
    return Arrival("", design.recruitment, found.pop(person), found)


def exit_of(design: StudyDesign, me: Participant | None) -> Exit:
    """Return where a participant goes: who has finished to the completion code, who cannot take part to the other."""
    if design.recruitment == PROLIFIC:
        code = design.completion_code if me is not None else design.screen_out_code
        return Exit(PROLIFIC, f"{_PROLIFIC}?{urlencode({'cc': code})}" if code else "")
    if design.recruitment == MTURK and me is not None:
        fields = {"assignmentId": me.visit["assignmentId"], "code": me.code}
        return Exit(MTURK, f"{me.visit['turkSubmitTo']}/mturk/externalSubmit", fields)
    return Exit(design.recruitment)
