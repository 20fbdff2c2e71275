"""Every error that a caller can meet: a class with status and code."""

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


class TooSlow(AppError):
    status, code = 400, "too_slow"


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
