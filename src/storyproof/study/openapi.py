"""The addresses of a study's server as an OpenAPI document, for tools that try them out."""

from __future__ import annotations

from typing import Any

from storyproof import __version__
from storyproof.families.paraphrasing import REASONS

_FORM = "application/x-www-form-urlencoded"
_TEXT: dict[str, Any] = {"type": "string"}
_STEP = {"slot": {"type": "integer"}, "signature": _TEXT, "browser_ms": _TEXT, "hidden_ms": _TEXT}
_FORMS: dict[str, dict[str, Any]] = {
    "answer": {**_STEP, "answer": _TEXT, "part": _TEXT},
    "rate": {**_STEP, "difficulty": {"type": "integer", "minimum": 1, "maximum": 5}},
    "write": {**_STEP, "text": _TEXT, "confirm": _TEXT},
    "review": {**_STEP, "verdict": {"type": "string", "enum": ["good", "bad"]}, "reason": {"enum": list(REASONS)}},
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
        "/consent": {"post": _operation("Consent", form={"arrival": _TEXT, "agree": _TEXT})},
        "/s/{token}": {"get": _operation("The next step of a participant", parameters=[token])},
        "/s/{token}/feedback/{slot}": {"get": _operation("Feedback on a practice question", parameters=[token, slot])},
        "/s/{token}/check": {
            "post": _operation(
                "Check a story",
                parameters=[token],
                form={"slot": {"type": "integer"}, "text": _TEXT},
                kind="application/json",
            )
        },
        "/admin": {"get": _operation("The dashboard, or the log-in page")},
        "/admin/login": {"post": _operation("Log in", form={"password": _TEXT, "signature": _TEXT})},
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
    found: dict[str, Any] = {"summary": summary, "responses": {"default": {"description": "A page"}}}
    if parameters:
        found["parameters"] = parameters
    if form is not None:
        schema = {"type": "object", "properties": form, "required": sorted(form)}
        found["requestBody"] = {"required": True, "content": {kind: {"schema": schema}}}
    return found
