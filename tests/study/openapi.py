"""The addresses of a study's server as an OpenAPI document, for tools that try them out."""

from __future__ import annotations

from typing import Any

from storyproof import __version__
from storyproof.families.paraphrasing import REASONS

_FORM = "application/x-www-form-urlencoded"
_TEXT: dict[str, Any] = {"type": "string"}
_SLOT: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 999_999_999}
_SIGNATURE: dict[str, Any] = {
    "type": "string",
    "pattern": "^[0-9a-f]{64}$",
    "description": "As in the form of the page; a value that this server has not signed is refused with 400.",
}
_ARRIVAL: dict[str, Any] = {**_SIGNATURE, "pattern": r"^[A-Za-z0-9_-]+={0,2}\.[0-9a-f]{64}$"}
_MS: dict[str, Any] = {"type": "string", "pattern": "^[0-9]{1,10}$", "description": "Milliseconds; may be left out."}
_STEP = {"slot": _SLOT, "signature": _SIGNATURE, "browser_ms": _MS, "hidden_ms": _MS}
_OPTIONAL = {"browser_ms", "hidden_ms", "part", "confirm", "reason", "answer"}
_FORMS: dict[str, dict[str, Any]] = {
    "answer": {**_STEP, "answer": _TEXT, "part": {"type": "array", "items": _TEXT}},
    "rate": {**_STEP, "difficulty": {"type": "integer", "minimum": 1, "maximum": 5}},
    "write": {**_STEP, "text": {"type": "string", "minLength": 1}, "confirm": {"enum": ["yes"]}},
    "review": {
        **_STEP,
        "verdict": {"type": "string", "enum": ["good", "bad"]},
        "reason": {
            "type": "array",
            "items": {"enum": list(REASONS)},
            "description": "At least one if the verdict is bad, else none.",
        },
    },
}
_RESPONSES = {
    "200": "A page",
    "303": "Sent; the next page",
    "400": "A form that this server has not signed, or that lacks something",
    "403": "A wrong password",
    "404": "No such link or page",
    "409": "Too late: the item has gone to somebody else",
    "413": "A request that is too large",
    "415": "Another kind of content",
    "422": "A form that must be completed or corrected",
    "429": "Too many wrong passwords",
    "503": "The server is busy",
}


def describe_api() -> dict[str, Any]:
    """Return the OpenAPI document."""
    token = {"name": "token", "in": "path", "required": True, "schema": _TEXT}
    slot = {"name": "slot", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 0}}
    query = [
        {"name": name, "in": "query", "schema": _TEXT}
        for name in (
            *("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
            *("workerId", "assignmentId", "hitId", "turkSubmitTo"),
        )
    ]
    paths: dict[str, Any] = {
        "/": {"get": _operation("The consent page", parameters=query)},
        "/consent": {"post": _operation("Consent", form={"arrival": _ARRIVAL, "agree": {"enum": ["yes"]}})},
        "/s/{token}": {"get": _operation("The next step of a participant", parameters=[token])},
        "/s/{token}/feedback/{slot}": {"get": _operation("Feedback on a practice question", parameters=[token, slot])},
        "/s/{token}/check": {
            "post": _operation(
                "Check a story",
                parameters=[token],
                form={"slot": _SLOT, "text": _TEXT},
                kind="application/json",
            )
        },
        "/admin": {"get": _operation("The dashboard, or the log-in page")},
        "/admin/login": {"post": _operation("Log in", form={"password": _TEXT, "signature": _SIGNATURE})},
        "/admin/logout": {"post": _operation("Log out", form={"form_key": _TEXT})},
        "/admin/export.zip": {"get": _operation("All results")},
        "/health": {"get": _operation("Whether the database answers")},
    }
    for name, form in _FORMS.items():
        paths[f"/s/{{token}}/{name}"] = {"post": _operation(f"Send the form '{name}'", parameters=[token], form=form)}
    return {"openapi": "3.1.0", "info": {"title": "storyproof study", "version": __version__}, "paths": paths}


def _operation(
    summary: str,
    *,
    parameters: list[dict[str, Any]] | None = None,
    form: dict[str, Any] | None = None,
    kind: str = _FORM,
) -> dict[str, Any]:
    responses = {code: {"description": meaning} for code, meaning in _RESPONSES.items()}
    operation: dict[str, Any] = {"summary": summary, "responses": responses}
    if parameters:
        operation["parameters"] = parameters
    if form is not None:
        schema = {"type": "object", "properties": form, "required": sorted(set(form) - _OPTIONAL)}
        operation["requestBody"] = {"required": True, "content": {kind: {"schema": schema}}}
    return operation
