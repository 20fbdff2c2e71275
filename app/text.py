"""What text must be before it can be stored, sent or shown."""


def clean(text: str) -> str:
    """Join surrogate pairs; replace U+0000 and lone surrogates, which UTF-8 and SQL cannot hold."""
    paired = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return paired.replace("\0", "\ufffd")
