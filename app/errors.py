"""Every error that a caller can meet: a class with status and code, and the one handler."""

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

log = structlog.get_logger()


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


class EmbeddingError(AppError):
    """Texts got no vectors; `retryable` says whether asking again may help."""

    status, code = 502, "embedding_error"

    def __init__(self, detail: str, *, retryable: bool = False, retry_after: float = 0.0) -> None:
        super().__init__(detail)
        self.retryable = retryable
        self.retry_after = retry_after


class RefusedText(EmbeddingError):
    """The endpoint takes one of the texts for malformed or too long."""


def _answer(status: int, code: str, detail: str) -> JSONResponse:
    return JSONResponse({"error": code, "detail": detail}, status_code=status)


def _where(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location if part not in ("body", "query", "path"))


def install(app: FastAPI) -> None:
    """Answer every error as `{"error", "detail"}`; the rejected input is never echoed."""

    @app.exception_handler(AppError)
    async def app_error(_: Request, error: AppError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        return _answer(error.status, error.code, error.detail)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Request, error: RequestValidationError) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        first = error.errors()[0]
        where = _where(first["loc"])[:100].encode("utf-8", "replace").decode()
        what = "the JSON is malformed" if first["type"] == "json_invalid" else first["msg"][:200]
        return _answer(422, "invalid_request", f"{where}: {what}" if where else what)

    @app.exception_handler(HTTPException)
    async def http_error(_: Request, error: HTTPException) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        codes = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
        response = _answer(
            error.status_code, codes.get(error.status_code, "bad_request"), error.detail
        )
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(Exception)
    async def defect(request: Request, error: Exception) -> JSONResponse:  # pyright: ignore[reportUnusedFunction]
        log.error("request failed", path=request.url.path, exc_info=error)
        return _answer(500, "internal", "Something went wrong in Brain; the log says what.")
