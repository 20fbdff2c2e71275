"""What stands before every route: who may be asked for, who may ask, and what a page may do."""

from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.settings import Settings

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data:",
        "connect-src 'self'",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
TOO_LARGE = {
    "error": "too_large",
    "detail": "The request is too large: BOR_MAX_JSON_BYTES says how much is taken.",
}


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The names under which this server may be addressed; a name of another site is rebinding."""
    further = (name.strip().lower() for name in settings.allowed_hosts.split(","))
    return LOOPBACK | {settings.host.lower()} | frozenset(filter(None, further))


def _name(host: str) -> str:
    return (urlsplit(f"//{host}").hostname or "").lower()


class _Answered(Exception):
    """Another response was sent in place of the one that the application began."""


def _is_plain_refusal(start: Message) -> bool:
    """Whether this is Starlette's own answer to a body over the limit, the only one not in JSON."""
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] == 413 and kind.startswith("text/plain")


def _add_headers(path: str, headers: MutableHeaders) -> None:
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    # The page is asked for anew each time, and answered with "not modified" when it is the same.
    headers.setdefault("cache-control", "no-store" if path.startswith("/api/") else "no-cache")


class Guard:
    """Checks `Host` and `Origin`, and adds the security headers; never touches a body."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if _is_plain_refusal(message):
                    await JSONResponse(TOO_LARGE, status_code=413)(
                        scope, receive, send_with_headers
                    )
                    raise _Answered
                _add_headers(scope["path"], MutableHeaders(scope=message))
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is not None:
            answer = JSONResponse({"error": "forbidden", "detail": refusal}, status_code=403)
            await answer(scope, receive, send_with_headers)
            return
        with suppress(_Answered):
            await self._app(scope, receive, send_with_headers)

    def _refusal(self, method: str, headers: Headers) -> str | None:
        host = headers.get("host", "")
        try:
            name = _name(host)
            origin = urlsplit(headers.get("origin", "")).netloc
        except ValueError:
            return "The request has a malformed Host or Origin header."
        if name not in self._hosts:
            return (
                f"This server is not called {name[:100]!r}: BOR_ALLOWED_HOSTS names further hosts."
            )
        sent_origin = headers.get("origin")
        if method not in SAFE_METHODS and sent_origin is not None and origin != host:
            return "A page of another site may not change anything here."
        return None
