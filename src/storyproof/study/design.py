"""The design of a study: all that is decided before the first participant, and frozen from then on."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from typing import Any

from storyproof.errors import ConfigError, DataError, UnknownNameError, quoted
from storyproof.runtime.options import Declared, option

PARAPHRASE, SOLVE = "paraphrase", "solve"
KINDS = (PARAPHRASE, SOLVE)
LINK, PROLIFIC, MTURK = "link", "prolific", "mturk"
RECRUITMENT = (LINK, PROLIFIC, MTURK)
LANGUAGES = ("en", "de")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CODE = re.compile(r"[A-Za-z0-9_-]{0,64}")
_LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}")
_LONGEST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyCondition:
    """A condition; each participant is in one.

    Attributes:
        name: Its name in tables and runs.
        time_limit_s: How long a question may take; None for as long as one likes.
    """

    name: str
    time_limit_s: float | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"a condition is called {quoted(self.name)}; use letters, digits, '.', '_' and '-'.")
        limit = self.time_limit_s
        if limit is not None and not 1 <= limit <= 86_400:
            raise ConfigError(f"the condition '{self.name}' has {limit} seconds; use 1 to 86,400, or none.")

    @classmethod
    def parse(cls, text: str) -> StudyCondition:
        """Read `NAME` or `NAME:SECONDS`.

        Raises:
            ConfigError: If it is neither.
        """
        name, colon, limit = text.strip().partition(":")
        if not colon:
            return cls(name=name)
        try:
            return cls(name=name, time_limit_s=float(limit))
        except ValueError as error:
            raise ConfigError(f"the condition is {quoted(text)}; expected NAME or NAME:SECONDS.") from error


@dataclass(frozen=True, kw_only=True)
class ExclusionRules(Declared):
    """Which participants are left out of the results, stated before the study.

    Attributes:
        failed_checks: From how many failed attention checks on; 0 for never.
        fastest_median_s: Whose median time per task is below this; 0 for never.
        needs_completion: Whether those who did not finish are left out.
    """

    failed_checks: int = field(
        default=1,
        metadata=option(
            "Exclude participants who fail at least N attention checks; 0 for none.",
            read=int,
            default="1",
            least=0,
            most=100,
        ),
    )
    fastest_median_s: float = field(
        default=0.0,
        metadata=option(
            "Exclude participants with a lower median time per task in seconds; 0 for none.",
            read=float,
            flag="--fastest-median",
            default="0.0",
            least=0,
            most=86_400,
        ),
    )
    needs_completion: bool = field(
        default=False, metadata=option("Exclude participants who have not finished.", read=bool)
    )


def _count(help: str, usual: int, least: int, most: int, shown: str = "") -> Any:
    """Return a field for a number that the command line sets."""
    return field(default=usual, metadata=option(help, read=int, default=shown or str(usual), least=least, most=most))


@dataclass(frozen=True, kw_only=True)
class StudyDesign(Declared):
    """A study as it is designed.

    Attributes:
        name: Its name, which is also that of its folder.
        kind: `paraphrase` (write and review stories) or `solve` (answer questions).
        title: What participants see as its title.
        language: The language of its pages; stories stay in theirs.
        messages: Texts of the lab's own for the pages, by key; in a language that does not ship, all of them.
        seed: The seed of everything that is drawn: items, their order, conditions.
        conditions: The conditions, between which participants are balanced.
        items: How many items (questions, or sets of facts) there are.
        answers_per_item: How many participants of each condition answer each item.
        tasks_per_participant: How many items one participant gets.
        practice: Practice questions with feedback, before the others.
        attention_checks: Attention checks among the tasks of one participant.
        reviews_per_participant: Stories that a participant reviews (paraphrase).
        reviewers: Reviews of each story; it is accepted if all of them find it good.
        lease_minutes: After how long an item that somebody left goes to somebody else.
        shortest_text: Characters that a story must have (paraphrase).
        longest_text: Characters that it may have.
        recruitment: `link`, `prolific` or `mturk`.
        completion_code: What Prolific shows for a finished study.
        screen_out_code: What Prolific shows for participants who cannot take part.
        pay_per_task: Pay for an item, as a decimal number.
        pay_per_review: Pay for a review.
        currency: The currency of the pay.
        institution: The institution that runs the study, for the consent text.
        contact: The contact for questions, for the consent text.
        duration_minutes: How long it takes, for the consent text.
        retention: How long data are kept, for the consent text.
        consent: The lab's own consent text; empty for the usual one.
        debriefing: The lab's own debriefing; empty for the usual one.
        exclusions: Which participants are left out of the results.
        source: Where the items come from: path, split, hashes and manifest of the data, or the collection of facts.
        conventions: Whether participants see the rules that answers rest on (solve).
    """

    name: str
    kind: str
    title: str = field(default="", metadata=option("What participants see as the title.", default="NAME"))
    language: str = field(
        default="en", metadata=option("The language of the pages: en, de, or that of your --messages.", default="en")
    )
    seed: int = _count("The seed of everything that is drawn.", 0, 0, 2**53)
    conditions: tuple[StudyCondition, ...] = field(
        default=(StudyCondition(name="unlimited"),),
        metadata=option(
            "A condition, NAME or NAME:SECONDS for a time limit per question; may be repeated.",
            read=StudyCondition.parse,
            flag="--condition",
            default="unlimited",
            is_repeated=True,
        ),
    )
    items: int = _count("How many questions, or sets of facts.", 100, 1, 1_000_000)
    answers_per_item: int = _count("Participants of each condition who get each item.", 1, 1, 1_000)
    tasks_per_participant: int = _count("Items of one participant.", 10, 0, 1_000, "10; 1 in a paraphrase study")
    practice: int = _count("Practice questions with feedback.", 2, 0, 20, "2; 0 in a paraphrase study")
    attention_checks: int = _count("Attention checks of one participant.", 1, 0, 20)
    reviews_per_participant: int = _count("Stories that a participant reviews.", 3, 0, 100)
    reviewers: int = _count("Reviews of each story; all must find it good.", 3, 1, 50)
    lease_minutes: float = field(
        default=60.0,
        metadata=option(
            "Minutes until an abandoned item is reassigned.", read=float, default="60.0", least=1, most=43_200
        ),
    )
    shortest_text: int = _count("Characters that a story must have.", 30, 1, 10_000)
    longest_text: int = _count("Characters that a story may have.", 1_000, 2, 20_000)
    recruitment: str = field(
        default=LINK, metadata=option("link, prolific or mturk.", default=LINK, choices=RECRUITMENT)
    )
    completion_code: str = field(default="", metadata=option("The code that Prolific shows for a finished study."))
    screen_out_code: str = field(default="", metadata=option("The code for those who come too late."))
    pay_per_task: str = field(default="0", metadata=option("Pay for a question, or a story.", default="0"))
    pay_per_review: str = field(default="0", metadata=option("Pay for a review.", default="0"))
    currency: str = field(default="USD", metadata=option("The currency of the pay.", default="USD"))
    institution: str = field(default="", metadata=option("The institution that runs the study, for the consent text."))
    contact: str = field(default="", metadata=option("The contact for questions, for the consent text."))
    duration_minutes: int = _count("How long it takes, for the consent text.", 20, 1, 10_000)
    retention: str = field(default="", metadata=option("How long data are kept, for the consent text."))
    consent: str = ""
    debriefing: str = ""
    exclusions: ExclusionRules = field(default_factory=ExclusionRules)
    source: Mapping[str, Any] = field(default_factory=dict)
    messages: Mapping[str, str] = field(default_factory=dict)
    conventions: bool = field(
        default=True, metadata=option("Show the rules that answers rest on with every story.", read=bool)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _NAME.fullmatch(self.name):
            raise ConfigError(
                f"the study is called {quoted(self.name)}; use up to 64 letters, digits, '.', '_' and '-'."
            )
        if self.kind not in KINDS:
            raise UnknownNameError("kind of study", self.kind, KINDS)
        if self.language not in LANGUAGES and not self.messages:
            raise UnknownNameError("language", self.language, LANGUAGES)
        if not _LANGUAGE.fullmatch(self.language):
            raise ConfigError(f"the language is {quoted(self.language)}; use a code such as es or pt-BR.")
        names = [each.name for each in self.conditions]
        if not names or len(names) > 16 or len(set(names)) < len(names):
            raise ConfigError(f"the conditions are {', '.join(names) or 'none'}; give 1 to 16 with different names.")
        if self.kind == PARAPHRASE and (len(names) > 1 or self.conditions[0].time_limit_s is not None):
            raise ConfigError("a paraphrase study has one condition without a time limit.")
        if self.shortest_text >= self.longest_text:
            raise ConfigError(
                f"texts may have {self.shortest_text} to {self.longest_text} characters; the second must be larger."
            )
        longest = max((each.time_limit_s or 0.0) for each in self.conditions)
        if longest > 60 * self.lease_minutes:
            raise ConfigError(
                f"a question may take {longest:g} seconds, but returns to the pool after {self.lease_minutes:g} "
                "minutes; use a larger --lease-minutes."
            )
        for name in ("completion_code", "screen_out_code"):
            if not _CODE.fullmatch(getattr(self, name)):
                raise ConfigError(f"{name} is {quoted(getattr(self, name))}; use letters, digits, '_' and '-'.")
        if self.recruitment == PROLIFIC and not self.completion_code:
            raise ConfigError("a study on Prolific needs the completion code that Prolific shows: --completion-code.")
        for name in ("pay_per_task", "pay_per_review"):
            _check_amount(name, getattr(self, name))
        if not re.fullmatch("[A-Z]{3}", self.currency):
            raise ConfigError(f"the currency is {quoted(self.currency)}; use three capital letters, such as USD.")
        for name in ("title", "institution", "contact", "retention", "consent", "debriefing"):
            if len(getattr(self, name)) > _LONGEST:
                raise ConfigError(f"{name} has more than {_LONGEST:,} characters; use a shorter text.")

    @property
    def lease_s(self) -> float:
        """How long a participant may keep an item, in seconds."""
        return 60 * self.lease_minutes

    @property
    def shown_title(self) -> str:
        """What participants see as the title."""
        return self.title or self.name

    def condition(self, name: str) -> StudyCondition:
        """Return a condition by name; raise KeyError if there is none."""
        return {each.name: each for each in self.conditions}[name]

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)

    @property
    def sha256(self) -> str:
        """The hash of the design, by which a database knows that it belongs to it."""
        return sha256(json.dumps(self.as_dict(), sort_keys=True).encode()).hexdigest()

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> StudyDesign:
        """Read what `as_dict` returned.

        Raises:
            DataError: If it is not a design.
            ConfigError: If a value is out of range.
        """
        known = {each.name for each in fields(cls)}
        unknown = sorted(set(plain) - known)
        if unknown:
            raise DataError(
                f"the design has {', '.join(unknown)}, which this version does not know; update storyproof."
            )
        values = dict(plain)
        try:
            values["conditions"] = tuple(StudyCondition(**each) for each in plain.get("conditions", ()))
            values["exclusions"] = ExclusionRules(**plain.get("exclusions", {}))
            return cls(**values)
        except (TypeError, AttributeError) as error:
            raise DataError(f"this is not the design of a study: {error}.") from error


def _check_amount(name: str, text: Any) -> None:
    try:
        amount = Decimal(text)
    except (InvalidOperation, TypeError, ValueError):
        amount = Decimal(-1)
    if not (amount.is_finite() and 0 <= amount <= 100_000):
        raise ConfigError(f"--{name.replace('_', '-')} is {quoted(text)}; use an amount such as 0.50.")
