"""What of a question is looked up to the letter: quoted phrases, identifiers and full names."""

import re

# What a person would look up to the letter: letter and digit mixed, an inner capital, or a joint
# between letters or digits; four characters at least.
_WORD = re.compile(r"[^\W_](?:[\w.:/\-#@+]*[^\W])?", re.UNICODE)
# Letter and digit mixed, too, yet no name of anything: 19th, 1950s.
_ORDINARY = re.compile(r"\d+(st|nd|rd|th|s)", re.IGNORECASE)
_JOINT = re.compile(r"[^\W_][_.:/\-#@+]+[^\W_]")
# A number that is no year and of which nobody counts so many.
_YEAR = re.compile(r"1\d{3}|20\d{2}|2100")
_NUMBER = re.compile(r"\d{4,}")
# Two words or more that begin with capitals, inside a sentence: the name of something.
_NAME = re.compile(r"(?<=[^\s.!?:;] )[A-Z][a-z]+(?: [A-Z][a-z]+)+")
# No opening mark within: a row of them is read once.
_QUOTED = re.compile(
    r"\"([^\"\n]{2,200})\"|“([^“”\n]{2,200})”|„([^„“”\n]{2,200})[“”]|«([^«»\n]{2,200})»"
    r"|`([^`\n]{2,200})`"
)
MOST_LOOKUPS = 8
_JOINTS = re.compile(r"[.:/#@\-]+")
# Ordinary words with a hyphen or a slash between them: well-known, and/or.
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
_PART = 4


def lookups(question: str) -> list[str]:
    """The quoted phrases and identifier-like words of a question, in order, without repeats."""
    quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(question)]
    rest = _QUOTED.sub(" ", question)
    words = [match.group() for match in _WORD.finditer(rest)]
    found = [phrase for phrase in quoted if phrase] + [w for w in words if is_identifier(w)]
    return list(dict.fromkeys(found))[:MOST_LOOKUPS]


def parts(question: str) -> dict[str, list[str]]:
    """The parts of each identifier of a question, such as `heappush` of `heapq.heappush`."""
    unquoted = _WORD.findall(_QUOTED.sub(" ", question))
    joined = [w for w in unquoted if is_identifier(w) and not _COMPOUND.fullmatch(w)]
    pieces = {w: [p for p in _JOINTS.split(w) if p != w and _is_part(p)] for w in joined}
    return {word: found for word, found in list(pieces.items())[:MOST_LOOKUPS] if found}


def _is_part(piece: str) -> bool:
    return len(piece) >= _PART and not _YEAR.fullmatch(piece)


def names(question: str) -> list[str]:
    """The names of two words and more in a question, like “Project Nightjar”."""
    return list(dict.fromkeys(_NAME.findall(question)))[:MOST_LOOKUPS]


def is_identifier(word: str) -> bool:
    """Whether a word looks like a name that a machine or a registry gave."""
    if len(word) < 4 or _ORDINARY.fullmatch(word):
        return False
    if _NUMBER.fullmatch(word):
        return not _YEAR.fullmatch(word)
    has_digit = any(c.isdigit() for c in word)
    has_letter = any(c.isalpha() for c in word)
    inner_capital = any(c.isupper() for c in word[1:]) and any(c.islower() for c in word)
    return (has_digit and has_letter) or inner_capital or bool(_JOINT.search(word))
