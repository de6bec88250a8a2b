"""A browser without a screen: it reads forms from pages of the application and sends them."""

import re
from dataclasses import dataclass, field
from html import unescape
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode

from starlette.types import ASGIApp

from tests.web.client import HOST, Answer, Client

ORIGIN = f"http://{HOST}"


@dataclass
class FormFields:
    """A form of a page: where it goes, what it holds, and what can be chosen."""

    action: str
    fields: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[FormFields] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        if tag == "form":
            self.forms.append(FormFields(given.get("action", "")))
        elif tag == "textarea" and self.forms:
            self.forms[-1].fields.setdefault(given["name"], "")
        elif tag == "input" and self.forms and "name" in given:
            form = self.forms[-1]
            if given.get("type") in ("radio", "checkbox"):
                form.choices.setdefault(given["name"], []).append(given.get("value", ""))
            else:
                form.fields[given["name"]] = given.get("value", "")


def forms_of(page: str) -> list[FormFields]:
    parser = _Forms()
    parser.feed(page)
    return parser.forms


class Browser:
    """Opens pages, follows redirects, and keeps cookies."""

    def __init__(self, app: ASGIApp) -> None:
        self._client = Client(app)
        self.cookies: dict[str, str] = {}
        self.page: Answer = Answer(0, {}, b"")
        self.path = self.set_cookie = ""

    def open(self, path: str) -> Answer:
        self._go("GET", path)
        while self.page.status in (302, 303):
            self._go("GET", self.page.headers["location"])
        return self.page

    def send(self, path: str, fields: dict[str, Any] | bytes, **headers: str) -> Answer:
        body = fields if isinstance(fields, bytes) else urlencode(fields, doseq=True).encode()
        given = {"content-type": "application/x-www-form-urlencoded", "origin": ORIGIN, **headers}
        self._go("POST", path, body, given)
        if self.page.status in (302, 303):
            return self.open(self.page.headers["location"])
        return self.page

    def submit(self, **values: Any) -> Answer:
        """Send the first form of the page, with some values."""
        form = self.form
        return self.send(form.action, {**form.fields, **values})

    @property
    def form(self) -> FormFields:
        return forms_of(self.page.text)[0]

    @property
    def title(self) -> str:
        found = re.search("<h1>(.*?)</h1>", self.page.text, re.DOTALL)
        return unescape(found[1]) if found else ""

    def _go(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        cookie = (
            {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}
        )
        self.path = path
        self.page = self._client.request(method, path, body, {**(headers or {}), **cookie})
        for line in self.page.headers.get("set-cookie", "").splitlines():
            if found := re.match(r"([^=]+)=([^;]*)", line):
                self.set_cookie = line
                self.cookies[found[1]] = found[2].strip('"')
