"""What stands before every route: who may be asked for, who may ask, and what a page may do."""

from collections.abc import Iterable
from urllib.parse import urlsplit

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.settings import Settings

log = structlog.get_logger()

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
DEFECT = {"error": "internal", "detail": "Something went wrong in Brain; its log says what."}
TOO_LARGE = {
    "error": "too_large",
    "detail": "The request is too large: BOR_MAX_JSON_BYTES says how much is taken.",
}


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The names under which this server may be addressed; a name of another site is rebinding."""
    further = (name.strip().lower() for name in settings.allowed_hosts.split(","))
    return LOOPBACK | {settings.host.lower()} | frozenset(filter(None, further))


def _name(host: str) -> str:
    parts = urlsplit(f"//{host}")
    # A header that holds more than a name and a port is no Host.
    return (parts.hostname or "").lower() if parts.netloc == host and "@" not in host else ""


class Guard:
    """Checks `Host` and `Origin`, adds the security headers, and turns defects into an answer."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        exchange = _Exchange(scope, receive, send)
        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is None:
            await exchange.run(self._app)
        else:
            await exchange.answer(403, {"error": "forbidden", "detail": refusal})

    def _refusal(self, method: str, headers: Headers) -> str | None:
        host, origin = headers.get("host", ""), headers.get("origin")
        try:
            name = _name(host)
            origin_host = urlsplit(origin or "").netloc
        except ValueError:
            return "The request has a malformed Host or Origin header."
        if name not in self._hosts:
            return (
                f"This server is not called {name[:100]!r}; BOR_ALLOWED_HOSTS names further hosts."
            )
        if method not in SAFE_METHODS and origin is not None and origin_host != host:
            return "A page of another site may not change anything here."
        return None


class _Answered(Exception):
    """Another response was sent in place of the one that the application began."""


class _Exchange:
    """One request and its response, whose headers are completed as it begins."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope = scope
        self._receive = receive
        self._send_on = send
        self._started = False

    async def run(self, app: ASGIApp) -> None:
        try:
            await app(self._scope, self._receive, self._send)
        except _Answered:
            return
        except Exception:
            # Left to the server, a defect would also cut the connection for what comes next.
            log.exception("request failed", path=self._scope["path"])
            if self._started:
                raise
            await self.answer(500, DEFECT)

    async def answer(self, status: int, content: dict[str, str]) -> None:
        await JSONResponse(content, status)(self._scope, self._receive, self._send)

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            if _is_plain_refusal(message):
                await self.answer(413, TOO_LARGE)
                raise _Answered
            self._started = True
            _add_headers(self._scope["path"], message)
        await self._send_on(message)


def _is_plain_refusal(start: Message) -> bool:
    """Whether this is Starlette's own answer to a body over the limit, the only one not in JSON."""
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] == 413 and kind.startswith("text/plain")


def _add_headers(path: str, start: Message) -> None:
    headers = MutableHeaders(scope=start)
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    # The page is asked for anew each time, and answered with "not modified" when it is the same.
    headers.setdefault("cache-control", "no-store" if path.startswith("/api/") else "no-cache")
    if start["status"] == 413:
        # The rest of the body is not read, so nothing can follow on this connection.
        headers["connection"] = "close"
