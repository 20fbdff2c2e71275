"""A browser that is watched: what a page may never do fails the test that used it."""

import os
import re
import shutil
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, ConsoleMessage, Page, Request

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
# Notes, from the first moment on, every status text and every violation of the policy.
NOTES = """
window.statuses = [];
new MutationObserver((records) => {
  for (const { target, addedNodes } of records)
    if (target.id === "send-status") window.statuses.push(...Array.from(addedNodes, (n) => n.data));
}).observe(document, { childList: true, subtree: true });
document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI }) =>
  console.error(`policy violated: ${violatedDirective} by ${blockedURI}`));
"""


def chromium() -> str:
    """The path of Chromium; without one the tests fail, since a skipped test proves nothing."""
    found = os.environ.get("BOR_TEST_CHROMIUM") or next(
        filter(None, map(shutil.which, PROGRAMS)), ""
    )
    assert found, "The browser tests need Chromium: install it, or set BOR_TEST_CHROMIUM."
    return found


def arguments() -> list[str]:
    # Chromium's sandbox refuses to run as root, as containers do.
    return [*ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


@dataclass
class Watch:
    """What the pages of a test asked for and complained of."""

    home: str
    expected: list[str] = field(default_factory=list[str])
    requests: list[Request] = field(default_factory=list[Request])
    complaints: list[str] = field(default_factory=list[str])

    async def over(self, context: BrowserContext) -> None:
        await context.add_init_script(NOTES)
        context.on("request", self._record)
        context.on("console", self._note)
        context.on("weberror", lambda failure: self.complaints.append(str(failure.error)))

    def expect(self, pattern: str) -> None:
        """Allow the complaints of the console that match the regular expression `pattern`."""
        self.expected.append(pattern)

    def asked(self, method: str, path: str) -> int:
        """How many requests of this kind the pages sent."""
        return sum(r.method == method and urlsplit(r.url).path == path for r in self.requests)

    def verdict(self) -> list[str]:
        """Everything that a page must not have done."""
        foreign = [f"request to {r.url}" for r in self.requests if not self._is_ours(r.url)]
        unexpected = [c for c in self.complaints if not any(re.search(e, c) for e in self.expected)]
        return foreign + unexpected

    def _record(self, request: Request) -> None:
        self.requests.append(request)

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.complaints.append(f"{message.text} ({message.location['url']})")

    def _is_ours(self, url: str) -> bool:
        parts = urlsplit(url)
        return parts.scheme in ("data", "blob") or parts.hostname == urlsplit(self.home).hostname


async def statuses(page: Page) -> list[str]:
    """Every text that the status line has shown since the page was loaded."""
    return await page.evaluate("window.statuses")
