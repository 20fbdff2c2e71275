"""What a document is called, for people."""

import html
import re

_TITLE_CHARACTERS = 200
_HEAD_CHARACTERS = 8_192
_HEADING = re.compile(r"^ {0,3}#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_HTML_TITLE = re.compile(r"<title[^>]*>([^<]+)</title", re.IGNORECASE)


def title_of(text: str, media_type: str, path: str) -> str:
    """The first heading of Markdown, the title of HTML, or else the file's name."""
    head = text[:_HEAD_CHARACTERS]
    found: str = ""
    if media_type == "text/markdown" and (heading := _HEADING.search(head)):
        found = heading.group(1)
    elif media_type in ("text/html", "application/xhtml+xml") and (
        title := _HTML_TITLE.search(head)
    ):
        found = html.unescape(title.group(1)).replace("\0", "\ufffd")
    words = " ".join(found.split())
    return words[:_TITLE_CHARACTERS] or path.rpartition("/")[2]
