"""The offline embedding model: vectors that know what English words mean."""

import math
from pathlib import Path

import pytest

from app.errors import EmbeddingError
from app.rag.minilm import MiniLM


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def cosine(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


async def test_texts_that_mean_the_same_are_nearer_than_others(model: MiniLM) -> None:
    asked, same, other = await model.embed(
        ["How long are backups kept?", "Snapshots stay for 35 days.", "The cat sat on the mat."]
    )
    assert cosine(asked, same) > cosine(asked, other) + 0.2


async def test_any_text_has_a_vector_of_length_one(model: MiniLM) -> None:
    texts = ["", "a", "🙂🙃", "中文", "\n", "x" * 1_000_000, "zxqj " * 5_000, "\ud800"]
    for vector in await model.embed(texts[:-1]):
        assert len(vector) == MiniLM.dimension
        assert math.hypot(*vector) == pytest.approx(1.0, abs=1e-5)


async def test_other_weights_are_refused(tmp_path: Path) -> None:
    weights = tmp_path / "model.onnx"
    weights.write_bytes(b"something else")
    with pytest.raises(EmbeddingError, match="does not hold"):
        await MiniLM(weights=weights).embed(["a"])


async def test_missing_weights_are_an_error_with_a_reason(tmp_path: Path) -> None:
    with pytest.raises(EmbeddingError, match="cannot be read"):
        await MiniLM(weights=tmp_path / "none.onnx").embed(["a"])
