"""Who is calling: tokens, roles and owners."""

import hashlib
import hmac
from dataclasses import dataclass

from app.db.visible import Visible
from app.errors import Unauthorized
from app.settings import Settings


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request; `owner` keeps conversations apart, and holds no token."""

    owner: str
    may_write: bool
    visible: Visible = None


EVERYONE = Caller(owner="", may_write=True)


def _owner(digest: bytes) -> str:
    return digest.hex()[:32]


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


class Tokens:
    """The tokens of the settings, kept as hashes and compared in constant time."""

    def __init__(self, settings: Settings) -> None:
        roles = ((settings.guest_tokens, False), (settings.editor_tokens, True))
        self._roles = {
            _digest(token.strip()): may_write
            for tokens, may_write in roles
            for token in tokens.get_secret_value().split(",")
            if token.strip()
        }
        editors = (digest for digest, may_write in self._roles.items() if may_write)
        first = next(editors, None)
        # Who takes over what was asked before there were tokens.
        self.heir = None if first is None else _owner(first)

    def __bool__(self) -> bool:
        return bool(self._roles)

    def caller(self, authorization: str | None) -> Caller:
        """The caller behind an `Authorization` header; everyone when no tokens are set."""
        if not self._roles:
            return EVERYONE
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized("This Brain wants a token: send it as `Authorization: Bearer …`.")
        sent = _digest(token.strip())
        # Every stored hash is compared, so that the time tells nothing about which one matched.
        found = [known for known in self._roles if hmac.compare_digest(known, sent)]
        if not found:
            raise Unauthorized("This token is not known here.")
        return Caller(owner=_owner(found[0]), may_write=self._roles[found[0]])
