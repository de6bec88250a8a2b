"""Who may see the dashboard: one password, hashed with Argon2, sessions in a cookie, and a limit on wrong passwords."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import delete, func, insert, select

from storyproof.errors import ConfigError
from storyproof.study import schema
from storyproof.study.folder import Study

SESSION_S = 12 * 3600.0
WINDOW_S = 15 * 60.0
MOST_WRONG = 5  # wrong passwords from one address in this time
MOST_WRONG_IN_ALL = 50  # and from all addresses
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1_000
_HASHER = PasswordHasher()


class TooManyAttemptsError(Exception):
    """There were too many wrong passwords; try again later."""


@dataclass(frozen=True, slots=True)
class AdminSession:
    """Somebody who has logged in.

    Attributes:
        token: What the cookie holds.
        form_key: What forms of the dashboard must carry.
    """

    token: str
    form_key: str


def hash_password(password: str) -> str:
    """Return the hash of a new password.

    Raises:
        ConfigError: If it is too short or too long.
    """
    if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
        raise ConfigError(
            f"the password has {len(password)} characters; use {SHORTEST_PASSWORD} to {LONGEST_PASSWORD:,}."
        )
    return _HASHER.hash(password)


def log_in(study: Study, password: str, address: str) -> AdminSession | None:
    """Begin a session if the password is right; None if it is wrong.

    Every attempt counts before the password is looked at, so that many at the same moment count, too.

    Raises:
        TooManyAttemptsError: If there were too many wrong ones.
    """
    table, now = schema.login_attempt, study.now()
    with study.database.writing() as connection:
        connection.execute(select(schema.study.c.id).with_for_update())
        connection.execute(delete(table).where(table.c.at < now - WINDOW_S))
        total = connection.execute(select(func.count()).select_from(table)).scalar_one()
        own = connection.execute(select(func.count()).where(table.c.address == address[:64])).scalar_one()
        if own >= MOST_WRONG or total >= MOST_WRONG_IN_ALL:
            raise TooManyAttemptsError
        key = connection.execute(insert(table).values(at=now, address=address[:64])).inserted_primary_key
        assert key is not None
    if not _is_right(study.password_hash(), password[:LONGEST_PASSWORD]):
        return None
    session = AdminSession(token_urlsafe(32), token_urlsafe(16))
    with study.database.writing() as connection:
        connection.execute(delete(table).where(table.c.id == key[0]))
        sessions = schema.admin_session
        connection.execute(delete(sessions).where(sessions.c.expires_at < now))
        connection.execute(
            insert(sessions).values(
                token_sha256=_hash(session.token), form_key=session.form_key, expires_at=now + SESSION_S
            )
        )
    return session


def _is_right(stored: str | None, password: str) -> bool:
    try:
        return _HASHER.verify(stored or "", password)
    except (Argon2Error, InvalidHashError):
        return False


def find_session(study: Study, token: str) -> AdminSession | None:
    """Return the session of a cookie; None if there is none, or it is over."""
    if not token:
        return None
    table = schema.admin_session
    with study.database.reading() as connection:
        row = connection.execute(
            select(table.c.form_key).where(table.c.token_sha256 == _hash(token), table.c.expires_at > study.now())
        ).first()
    return None if row is None else AdminSession(token, row.form_key)


def log_out(study: Study, session: AdminSession, form_key: str) -> bool:
    """End a session; return False if the form was not made for it."""
    if not hmac.compare_digest(session.form_key.encode(), form_key.encode("utf-8", "replace")):
        return False
    table = schema.admin_session
    with study.database.writing() as connection:
        connection.execute(delete(table).where(table.c.token_sha256 == _hash(session.token)))
    return True


def _hash(token: str) -> str:
    return sha256(token.encode("utf-8", "replace")).hexdigest()
