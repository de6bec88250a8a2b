"""Who may see the dashboard: one password, hashed with Argon2, sessions in a cookie, and limits on wrong passwords.

Wrong passwords count by address, and all together. Browsers that have logged in before count by themselves, known by a
signed cookie: somebody who tries passwords elsewhere cannot lock the owner of the study out.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_hex, token_urlsafe

from argon2 import PasswordHasher
from argon2.exceptions import Argon2Error, InvalidHashError
from sqlalchemy import delete, func, insert, select

from storyproof.errors import ConfigError
from storyproof.study import schema
from storyproof.study.folder import Study
from storyproof.study.forms import sign

SESSION_S = 12 * 3600.0
WINDOW_S = 15 * 60.0
MOST_WRONG = 5  # wrong passwords from one address in this time
MOST_WRONG_IN_ALL = 50  # and from all addresses; browsers that are known are counted apart
DEVICE_S = 180 * 24 * 3600.0  # how long a browser is known
SHORTEST_PASSWORD, LONGEST_PASSWORD = 10, 1_000
_DEVICE = "device "  # before the names of browsers that are known, in place of an address
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


def log_in(study: Study, password: str, address: str, device: str = "") -> AdminSession | None:
    """Begin a session if the password is right; None if it is wrong.

    Every attempt counts before the password is looked at, so that many at the same moment count, too.

    Args:
        study: The study.
        password: What was given.
        address: Where it comes from.
        device: What `new_device` returned to this browser earlier, if it did.

    Raises:
        TooManyAttemptsError: If there were too many wrong ones.
    """
    table, now, stored = schema.login_attempt, study.now(), study.password_hash()
    name = device.partition(".")[0]
    is_known = bool(name) and hmac.compare_digest(device.encode("utf-8", "replace"), _signed(study, name, stored))
    source = f"{_DEVICE}{name}" if is_known else address[:64]
    with study.database.writing() as connection:
        connection.execute(select(schema.study.c.id).with_for_update())
        connection.execute(delete(table).where(table.c.at < now - WINDOW_S))
        others = select(func.count()).where(table.c.address.not_like(f"{_DEVICE}%"))
        own = connection.execute(select(func.count()).where(table.c.address == source)).scalar_one()
        if own >= MOST_WRONG or (not is_known and connection.execute(others).scalar_one() >= MOST_WRONG_IN_ALL):
            raise TooManyAttemptsError
        key = connection.execute(insert(table).values(at=now, address=source)).inserted_primary_key
        assert key is not None
    if not _is_right(stored, password[:LONGEST_PASSWORD]):
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


def new_device(study: Study) -> str:
    """Return what makes a browser known that has logged in; another password makes it unknown again."""
    return _signed(study, token_hex(16), study.password_hash()).decode()


def _signed(study: Study, name: str, password_hash: str | None) -> bytes:
    return f"{name}.{sign(study.secret, 'device', name, password_hash)}".encode("utf-8", "replace")


def unlock(study: Study) -> int:
    """Forget all wrong passwords; return how many there were."""
    with study.database.writing() as connection:
        return connection.execute(delete(schema.login_attempt)).rowcount


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
