"""What stands before every route: who may be asked for, who may ask, and what a page may do."""

from collections.abc import Iterable
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


def allowed_hosts(settings: Settings) -> frozenset[str]:
    """The names under which this server may be addressed; a name of another site is rebinding."""
    further = (name.strip().lower() for name in settings.allowed_hosts.split(","))
    return LOOPBACK | {settings.host.lower()} | frozenset(filter(None, further))


def _name(host: str) -> str:
    return (urlsplit(f"//{host}").hostname or "").lower()


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
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("cache-control", "no-store")
                elif not scope["path"].startswith(("/docs", "/openapi")):
                    headers.setdefault("cache-control", "no-cache")
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        if refusal is not None:
            answer = JSONResponse({"error": "forbidden", "detail": refusal}, status_code=403)
            await answer(scope, receive, send_with_headers)
            return
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
