"""An embedding model that tests can foresee: texts with the same topic mean the same."""

from collections.abc import Sequence

from app.errors import EmbeddingError, RefusedText

DIMENSION = 384
TOPICS = ("cat", "ship", "bread", "law")


class FakeEmbedder:
    """Each topic that a text names is a direction; a text without any has one of its own.

    `failures` are raised one after the other before it answers; `refused` is what it never reads.
    """

    def __init__(self, name: str = "fake", dimension: int = DIMENSION, refused: str = "§") -> None:
        self.name = name
        self.dimension = dimension
        self.refused = refused
        self.failures: list[EmbeddingError] = []
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        if self.failures:
            raise self.failures.pop(0)
        if any(self.refused in text for text in texts):
            raise RefusedText("That is no text.")
        self.asked += texts
        return [self._vector(text.lower()) for text in texts]

    def _vector(self, text: str) -> list[float]:
        named = [float(_names(topic, text)) for topic in TOPICS]
        length = sum(named) ** 0.5
        rest = [0.0] * (self.dimension - len(TOPICS) - 1)
        return [*(value / (length or 1.0) for value in named), float(not length), *rest]


def _names(topic: str, text: str) -> bool:
    kin = {"cat": "feline", "ship": "vessel", "bread": "loaf", "law": "statute"}
    return topic in text or kin[topic] in text
