"""How errors become answers: the one place, and whatever code asks for no HTTP does without it."""

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from starlette.exceptions import HTTPException

from app.db.retrying import UNREACHABLE
from app.errors import MALFORMED_JSON, AppError

log = structlog.get_logger()


def install(app: FastAPI) -> None:
    """Answer every error as `{"error", "detail"}`; the rejected input is never echoed."""
    app.exception_handler(AppError)(_app_error)
    app.exception_handler(RequestValidationError)(_malformed)
    app.exception_handler(HTTPException)(_http_error)
    for unreachable in UNREACHABLE:
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
    if isinstance(error, PoolTimeoutError):
        response = _answer(503, "not_ready", "Too many requests are under way; try again soon.")
        response.headers["retry-after"] = "5"
        return response
    log.warning("the database cannot be reached", reason=str(error).partition("\n")[0])
    return _answer(503, "not_ready", "The database cannot be reached; try again in a moment.")


def _answer(status: int, code: str, detail: str) -> JSONResponse:
    return JSONResponse({"error": code, "detail": detail}, status_code=status)


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location if part not in ("body", "query", "path"))
