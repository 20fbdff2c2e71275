"""The chat as a person meets it: by roles and labels."""

from dataclasses import dataclass

from playwright.async_api import Locator, Page, expect

ENDED_MS = 30_000


@dataclass(frozen=True)
class ChatPage:
    """The chat view of a page."""

    page: Page

    @property
    def address(self) -> str:
        """The conversation's place on the page: `#/c/…`."""
        return f"#{self.page.url.partition('#')[2]}"

    @property
    def message(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message")

    @property
    def send(self) -> Locator:
        return self.page.get_by_role("button", name="Send", exact=True)

    @property
    def stop(self) -> Locator:
        return self.page.get_by_role("button", name="Stop", exact=True)

    @property
    def status(self) -> Locator:
        return self.page.locator("#send-status")

    @property
    def not_sent(self) -> Locator:
        return self.page.locator("#not-sent")

    @property
    def transcript(self) -> Locator:
        return self.page.get_by_role("log", name="Transcript")

    @property
    def questions(self) -> Locator:
        return self.transcript.get_by_role("article", name="You")

    @property
    def answers(self) -> Locator:
        return self.transcript.get_by_role("article", name="Brain")

    @property
    def tool_lines(self) -> Locator:
        return self.transcript.locator(".tool-call")

    @property
    def errors(self) -> Locator:
        return self.transcript.locator(".error")

    async def started(self) -> None:
        """Wait until the page has begun to work; what is typed before belongs to no view."""
        listed = self.page.locator("#conversations li, #no-conversations:not([hidden])")
        await expect(listed.first).to_be_attached()

    async def ask(self, question: str) -> None:
        """Send a question; it is on its way when this returns."""
        await self.message.fill(question)
        await self.message.press("Enter")
        await expect(self.questions.last).to_have_text(question)

    async def ended(self) -> None:
        """Wait until nothing runs; whatever the ending, the page is as free as before."""
        await expect(self.transcript).to_have_attribute("aria-busy", "false", timeout=ENDED_MS)
        await expect(self.status).to_be_empty()
        await expect(self.stop).to_be_hidden()
        await expect(self.send).to_be_visible()
        await expect(self.message).to_be_editable()

    async def answer(self, question: str) -> Locator:
        """Ask, wait for the end, and return the answer."""
        await self.ask(question)
        await self.ended()
        return self.answers.last

    async def reload(self) -> None:
        """Load the page anew and wait until the conversation stands there."""
        questions = await self.questions.count()
        await self.page.reload()
        await self.started()
        await expect(self.questions).to_have_count(questions)

    async def shown(self) -> str:
        """The transcript as HTML, every tool line, citation and mark included."""
        return await self.transcript.inner_html()
