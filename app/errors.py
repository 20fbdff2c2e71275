"""Every error that a caller can meet: a class with status and code, and the one handler."""

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException

log = structlog.get_logger()

MALFORMED_JSON = "The body is not JSON that can be read."


class AppError(Exception):
    """An error with a sentence for the person who caused it."""

    status = 400
    code = "bad_request"

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class NotFound(AppError):
    status, code = 404, "not_found"


class Conflict(AppError):
    status, code = 409, "conflict"


class TurnRunning(AppError):
    status, code = 409, "turn_running"


class TurnInterrupted(AppError):
    """The turn was given up for lost by another process, which ended it."""

    status, code = 409, "interrupted"


class Unauthorized(AppError):
    status, code = 401, "unauthorized"


class Forbidden(AppError):
    status, code = 403, "forbidden"


class InvalidRequest(AppError):
    status, code = 422, "invalid_request"


class BadPath(AppError):
    status, code = 400, "bad_path"


class BadSource(AppError):
    status, code = 400, "bad_source"


class InvalidPattern(AppError):
    status, code = 400, "invalid_pattern"


class BinaryContent(AppError):
    status, code = 415, "binary_content"


class UndecodableText(AppError):
    status, code = 415, "undecodable_text"


class UnsupportedFormat(AppError):
    status, code = 415, "unsupported_format"


class TooLarge(AppError):
    status, code = 413, "too_large"


class NotReady(AppError):
    status, code = 503, "not_ready"


class ModelError(AppError):
    """The language model failed; `retryable` says whether asking again may help."""

    status, code = 502, "model_error"

    def __init__(self, detail: str, *, retryable: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(detail)
        self.retryable = retryable
        self.retry_after = retry_after


def install(app: FastAPI) -> None:
    """Answer every error as `{"error", "detail"}`; the rejected input is never echoed."""
    app.exception_handler(AppError)(_app_error)
    app.exception_handler(RequestValidationError)(_malformed)
    app.exception_handler(HTTPException)(_http_error)
    # A broken connection, and a pool that has none to give, are no defects of ours.
    for unreachable in (OperationalError, InterfaceError, PoolTimeoutError):
        app.exception_handler(unreachable)(_database_away)


async def _app_error(_: Request, error: AppError) -> JSONResponse:
    response = _answer(error.status, error.code, error.detail)
    if error.status == 401:
        response.headers["www-authenticate"] = "Bearer"
    return response


async def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return _answer(422, "invalid_request", MALFORMED_JSON)
    where = _where(first["loc"])[:100].encode("utf-8", "replace").decode()
    what = first["msg"][:200]
    return _answer(422, "invalid_request", f"{where}: {what}" if where else what)


async def _http_error(_: Request, error: HTTPException) -> JSONResponse:
    # What FastAPI says of JSON that Python cannot read at all: too deep, or not in UTF-8.
    if error.status_code == 400 and "parsing the body" in error.detail:
        return _answer(422, "invalid_request", MALFORMED_JSON)
    code = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}.get(error.status_code)
    response = _answer(error.status_code, code or "bad_request", error.detail)
    response.headers.update(error.headers or {})
    return response


async def _database_away(_: Request, error: Exception) -> JSONResponse:
    log.warning("the database cannot be reached", reason=str(error).partition("\n")[0])
    return _answer(503, "not_ready", "The database cannot be reached; try again in a moment.")


def _answer(status: int, code: str, detail: str) -> JSONResponse:
    return JSONResponse({"error": code, "detail": detail}, status_code=status)


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location if part not in ("body", "query", "path"))
