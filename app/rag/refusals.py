"""The sentences that a tool answers with when it does not do what it was asked."""

MISSING_READ_ARGS = (
    "read_document needs a source and a path, as list_documents and search_documents show them."
)
ALREADY_IN_CONTEXT = "You already have all of these lines: look above."
MISSING_PATTERN = "search_documents needs a pattern: the string to look for."
MISSING_GLOB = "find_documents needs a glob, such as **/*.md."
MISSING_EXPRESSION = "grep_documents needs a pattern: a regular expression (RE2)."
PATH_WITHOUT_SOURCE = "A path needs its source: give both, or neither to search all documents."
ONE_LINE_PATTERN = "The search is per line: give a pattern without line breaks."
UNKNOWN_TOOL = (
    "There is no such tool. The tools are list_documents, read_document, search_documents,"
    " find_documents and grep_documents."
)
FAILED_TOOL = "The tool failed, through no fault of the call. Go on without it, or try once more."
REPEATED = "Same result as before: this call was made earlier in this turn. Look above."
NO_DOCUMENTS = "There are no documents yet."

ECHOED_CHARACTERS = 200


class Refusal(Exception):
    """A call that is answered with a sentence; `summary` is what the page says of it."""

    def __init__(self, sentence: str, summary: str = "not possible") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.summary = summary


def echo(text: str) -> str:
    """What the model wrote, short enough to be repeated to it."""
    return text if len(text) <= ECHOED_CHARACTERS else f"{text[:ECHOED_CHARACTERS]}…"
