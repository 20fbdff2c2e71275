"""The letters that differ only in case."""

from collections import defaultdict
from functools import cache

from app.search.fold import fold

# No letter above folds to another one.
_CASED = 0x1E944


def variants(char: str) -> list[str]:
    """All letters that fold to the same one as `char`, or itself."""
    return fold_classes().get(fold(char), [char])


@cache
def fold_classes() -> dict[str, list[str]]:
    """Folded letter → all letters that fold to it, for letters that have more than one form."""
    characters = "".join(chr(code) for code in range(_CASED) if not 0xD800 <= code < 0xE000)
    classes: dict[str, list[str]] = defaultdict(list)
    for char, folded in zip(characters, fold(characters), strict=True):
        if char != folded:
            classes[folded].append(char)
    return {folded: [folded, *others] for folded, others in classes.items()}
