"""Prompt files: they have names and versions, and are checked before the first request.

A file contains the wording of a question for each family (`belief`, `kinship` …), or one for all families (`any`). A
wording has `steps`, one request each. Their text may contain placeholders in braces; write a brace itself twice. Under
`languages` there may be wordings for rows in other languages, by code (`de`); all other rows use the main ones.
"""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from storyproof.errors import QUOTED, ConfigError, UnknownNameError, quoted
from storyproof.families.family import ANY_FAMILY, families
from storyproof.io.bounded_input import FILE, LARGEST_YAML, DocumentError, kind_of, parse_shipped, parse_yaml, read_text

FOLDER = Path(__file__).with_name("prompts")
BELIEF = "belief"
LETTERS, FULL = "letters", "answers"
PLACEHOLDERS = {
    "story": "the story, one sentence per line",
    "question": "the question",
    "candidates": "all candidates, separated by commas; for sets of people, the people",
    "options": "all candidates with letters, one per line, in a random order (by seed and example)",
    "shots": "solved examples from the train split",
    "person": "belief: the first person whose mind the question is about; kinship: the person asked about",
    "other": "kinship: the person to whom the relation is asked",
    "known": "the reply to the previous step, or the story in the first step",
    "reply": "the reply to the previous step",
}
_SHOT_PLACEHOLDERS = ("story", "question", "answer", "candidates")


@dataclass(frozen=True, slots=True)
class PromptStep:
    """One request.

    Attributes:
        user: The user message.
        system: The system message; empty if there is none.
        max_tokens: The maximum length of the reply.
        stop: Texts at which a reply ends.
        choices: What is scored by likelihood: `letters` of the candidates, the `answers` themselves, or nothing.
        when: `belief` if the step is used for questions about beliefs only.
    """

    user: str
    system: str
    max_tokens: int
    stop: tuple[str, ...]
    choices: str | None
    when: str | None


@dataclass(frozen=True, slots=True)
class Wording:
    """The wording of questions of one family: the steps, the number of solved examples, and their form."""

    steps: tuple[PromptStep, ...]
    shots: int
    shot: str


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt file that has been read and checked.

    Attributes:
        name: Its name.
        version: Its version; a change of the text is a new version.
        sha256: The hash of the file.
        answer_after: The text in the last reply that the answer follows; None if the answer is the whole reply.
        wordings: The wordings, by family.
        where: The file, for messages.
        translations: The same for rows in other languages, by code.
    """

    name: str
    version: str
    sha256: str
    answer_after: str | None
    wordings: dict[str, Wording]
    where: str
    translations: dict[str, Template] = field(default_factory=dict)

    def in_language(self, language: str) -> Template:
        """Return the prompt for rows in a language; the prompt itself if it has no other words for them."""
        return self.translations.get(language, self)

    def wording(self, keys: Sequence[str]) -> Wording:
        """Return the wording for a family, given the keys under which files may name it.

        Raises:
            ConfigError: If there is none.
        """
        wording = next((self.wordings[key] for key in (*keys, ANY_FAMILY) if key in self.wordings), None)
        if wording is None:
            known = f"'{keys[0]}' or '{ANY_FAMILY}'"
            raise ConfigError(f"{self.where}: no wording for '{keys[0]}'; add {known} to ask such questions.")
        return wording


def template_names() -> list[str]:
    """List the prompts that come with storyproof."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def load_template(name: str) -> Template:
    """Read a prompt by its name, or a user's own by the path of its file.

    Raises:
        ConfigError: If there is no such prompt, or its file is not valid.
    """
    own = FOLDER / f"{name}.yaml"
    path = own if name in template_names() else Path(name)
    if path is not own and not (path.suffix in (".yaml", ".yml") or kind_of(path) == FILE):
        raise UnknownNameError("prompt", name, (*template_names(), "FILE.yaml", "module:function"))
    try:
        text = read_text(path, LARGEST_YAML)
        read = parse_shipped(text) if path is own else parse_yaml(text)
    except (OSError, UnicodeError) as error:
        raise ConfigError(f"cannot read the prompt {path}: {error}; give a prompt file or a known name.") from error
    except DocumentError as error:
        line = f", line {error.line}" if error.line else ""
        raise ConfigError(
            f"{path}{line}: not valid YAML: {error}; see the prompts that come with storyproof."
        ) from error
    return _TemplateReader(str(path)).template(read, hashlib.sha256(text.encode()).hexdigest())


class _TemplateReader:
    """Checks the content of a prompt file; every error names the file and the place in it."""

    def __init__(self, where: str) -> None:
        self._where = where

    def template(self, read: Any, sha256: str) -> Template:
        keys = (*(family.name for family in families()), ANY_FAMILY)
        fields = self._object(read, "the file", ("name", "version"), ("about", "languages", "answer_after", *keys))
        template = Template(
            name=self._text(fields["name"], "name"),
            version=self._text(fields["version"], "version"),
            sha256=sha256,
            answer_after=self._answer_after(fields, ""),
            wordings=self._wordings(fields, keys, ""),
            where=self._where,
        )
        languages = fields.get("languages", {})
        if not isinstance(languages, dict):
            raise self._error("languages", quoted(languages), "wordings by the code of a language, such as de")
        for language, given in languages.items():
            place = f"languages.{language}."
            there = self._object(given, place[:-1], (), ("answer_after", *keys))
            template.translations[str(language)] = replace(
                template,
                answer_after=self._answer_after(there, place),
                wordings=self._wordings(there, keys, place),
                translations={},
            )
        return template

    def _answer_after(self, fields: Mapping[str, Any], place: str) -> str | None:
        return self._text(fields["answer_after"], f"{place}answer_after") if "answer_after" in fields else None

    def _wordings(self, fields: Mapping[str, Any], keys: Sequence[str], place: str) -> dict[str, Wording]:
        kinds = [kind for kind in keys if kind in fields]
        if not kinds:
            raise self._error(place[:-1] or "the file", "no wording", f"one of {', '.join(keys)}, with steps")
        return {kind: self._wording(fields[kind], f"{place}{kind}") for kind in kinds}

    def _wording(self, read: Any, place: str) -> Wording:
        fields = self._object(read, place, ("steps",), ("shots", "shot"))
        steps = fields["steps"]
        if not isinstance(steps, list) or not steps:
            raise self._error(f"{place}.steps", quoted(steps), "a list of at least one step")
        shots = self._count(fields.get("shots", 0), f"{place}.shots", 0)
        shot = self._text(fields["shot"], f"{place}.shot", _SHOT_PLACEHOLDERS) if "shot" in fields else ""
        steps_read = tuple(self._step(step, f"{place}.steps[{number}]", number) for number, step in enumerate(steps))
        shown = any("{shots}" in step.user + step.system for step in steps_read)
        if shown != bool(shots) or (shots and not shot):
            expected = "'shots' (how many), 'shot' (their form) and the placeholder {shots} to go together"
            raise self._error(
                place, f"shots: {shots}, shot: {shot[:40]!r}, {{shots}} {'' if shown else 'not '}used", expected
            )
        return Wording(steps_read, shots, shot)

    def _step(self, read: Any, place: str, number: int) -> PromptStep:
        fields = self._object(read, place, ("user", "max_tokens"), ("system", "stop", "choices", "when"))
        allowed = [name for name in PLACEHOLDERS if number or name != "reply"]
        stop = fields.get("stop", [])
        if not isinstance(stop, list) or not all(isinstance(each, str) and each for each in stop):
            raise self._error(f"{place}.stop", quoted(stop), "a list of texts")
        for name, known in (("choices", (LETTERS, FULL)), ("when", (BELIEF,))):
            if fields.get(name) not in (None, *known):
                raise self._error(f"{place}.{name}", quoted(fields[name]), " or ".join(known))
        return PromptStep(
            user=self._text(fields["user"], f"{place}.user", allowed),
            system=self._text(fields["system"], f"{place}.system", allowed) if "system" in fields else "",
            max_tokens=self._count(fields["max_tokens"], f"{place}.max_tokens", 1),
            stop=tuple(stop),
            choices=fields.get("choices"),
            when=fields.get("when"),
        )

    def _object(self, read: Any, place: str, needed: tuple[str, ...], more: tuple[str, ...]) -> Mapping[str, Any]:
        if not isinstance(read, dict):
            raise self._error(place, type(read).__name__, f"fields: {', '.join((*needed, *more))}")
        missing = [name for name in needed if read.get(name) is None]
        if missing:
            raise self._error(place, f"no field '{missing[0]}'", f"all of: {', '.join(needed)}")
        unknown = [name for name in read if name not in (*needed, *more)]
        if unknown:
            raise self._error(place, f"the field {quoted(unknown[0])}", f"only: {', '.join((*needed, *more))}")
        return {name: value for name, value in read.items() if value is not None}

    def _text(self, value: Any, place: str, placeholders: Any = ()) -> str:
        if not isinstance(value, str) or not value.strip():
            raise self._error(place, quoted(value), "text (quote numbers)")
        if not placeholders:
            return value
        try:
            parts = list(string.Formatter().parse(value))
        except ValueError as error:
            raise self._error(place, str(error), "placeholders such as {story}; write a brace itself twice") from error
        for _, name, form, conversion in parts:
            if name is None:
                continue
            if name not in placeholders or form or conversion:
                shown = name + (f"!{conversion}" if conversion else "") + (f":{form}" if form else "")
                known = ", ".join(f"{{{each}}}" for each in placeholders)
                raise self._error(
                    place, f"the placeholder {{{shown[:QUOTED]}}}", f"one of: {known}; write a brace itself twice"
                )
        return value

    def _count(self, value: Any, place: str, least: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise self._error(place, quoted(value), f"a whole number, {least} or more")
        return value

    def _error(self, place: str, problem: str, expected: str) -> ConfigError:
        return ConfigError(f"{self._where}, {place}: found {problem}; expected {expected}.")
