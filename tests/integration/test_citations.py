"""Citations checked against stored documents."""

import hashlib

from app.db.engine import Sessions
from app.db.visible import Visible
from app.rag.citations import MOST_CHARACTERS, MOST_CITATIONS, CheckedCitation, check_citations
from app.rag.context import Range
from app.rag.shown import Shown
from tests.stored import store_texts

TEXT = "# Limits\nThe retry budget is\n90 **seconds**.\n"


async def check(
    sessions: Sessions, answer: str, shown: str = "limits.md", visible: Visible = None
) -> list[CheckedCitation]:
    """Check an answer, with the first lines of the document `shown` seen by the model."""
    async with sessions() as session:
        seen = Shown([Range("acme", shown, 1, 1_000)])
        return await check_citations(session, answer, seen, visible)


async def verdict(sessions: Sessions, answer: str, shown: str = "limits.md") -> tuple[str, str]:
    (citation,) = await check(sessions, answer, shown)
    return citation.state, citation.reason or ""


async def test_quoted_words_that_stand_in_the_cited_lines_are_quoted(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    (citation,) = await check(sessions, "“The RETRY budget is 90 seconds.” [acme/limits.md:2-3]")
    assert citation == CheckedCitation(
        index=0,
        document_id=1,
        source="acme",
        path="limits.md",
        first_line=2,
        last_line=3,
        state="quoted",
        reason=None,
        text_sha256=hashlib.sha256(TEXT.encode()).hexdigest(),
        text="The retry budget is\n90 **seconds**.",
    )


async def test_lines_that_were_shown_without_a_quotation_are_present(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    assert await verdict(sessions, "It is 80 [acme/limits.md:3].") == ("present", "")


async def test_quoted_words_that_are_elsewhere_are_unverified(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    assert await verdict(sessions, 'It is "90 seconds" [acme/limits.md:2].') == (
        "unverified",
        "The quoted words “90 seconds” are not in these lines.",
    )


async def test_an_unknown_document_is_unverified(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    (citation,) = await check(sessions, "So [guide/none.md:12].")
    assert citation.state == "unverified"
    assert citation.reason == "There is no document “guide/none.md”."
    assert (citation.document_id, citation.text_sha256, citation.text) == (None, None, "")


async def test_a_document_of_a_hidden_source_does_not_exist(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    (citation,) = await check(sessions, "So [acme/limits.md:1].", visible=frozenset({"other"}))
    assert citation.reason == "There is no document “acme/limits.md”."
    assert citation.text == ""


async def test_lines_past_the_end_are_unverified(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT, "one.md": "x", "empty.md": ""})
    reason = "“acme/limits.md” has 3 lines."
    assert await verdict(sessions, "[acme/limits.md:4]") == ("unverified", reason)
    assert await verdict(sessions, "[acme/limits.md:2-999999999]") == ("unverified", reason)
    assert (await verdict(sessions, "[acme/one.md:2]"))[1] == "“acme/one.md” has 1 line."
    assert (await verdict(sessions, "[acme/empty.md:1]"))[1] == "“acme/empty.md” has 0 lines."


async def test_lines_that_the_model_never_saw_are_unverified(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    (citation,) = await check(sessions, '"Limits" [acme/limits.md:1]', shown="other.md")
    assert (citation.state, citation.reason, citation.text) == (
        "unverified",
        "The model was never shown these lines.",
        "# Limits",
    )


async def test_several_citations_of_a_sentence_share_its_quotations(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    both = '"Retry budget" is "90 seconds" [acme/limits.md:2; acme/limits.md:3] [acme/limits.md:1].'
    assert [one.state for one in await check(sessions, both)] == ["quoted", "quoted", "present"]
    wrong = 'The "retry budget" is "80 seconds" [acme/limits.md:2; acme/limits.md:3].'
    assert [one.state for one in await check(sessions, wrong)] == ["unverified", "unverified"]


async def test_a_sentence_is_not_blamed_for_the_next(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    answer = 'It is "90 seconds." [acme/limits.md:3] It was "80". [acme/limits.md:3]'
    assert [one.state for one in await check(sessions, answer)] == ["quoted", "unverified"]


async def test_repeated_citations_are_listed_each_time_in_order(sessions: Sessions) -> None:
    await store_texts(sessions, {"limits.md": TEXT})
    checked = await check(
        sessions, "[acme/limits.md:1]\n\n[acme/limits.md:2]\n\n[acme/limits.md:1]"
    )
    assert [(one.index, one.first_line) for one in checked] == [(0, 1), (1, 2), (2, 1)]


async def test_names_with_marks_are_found(sessions: Sessions) -> None:
    path = "a [b]/c:1 (é) %5D.md"
    await store_texts(sessions, {path: "x y\n"})
    answer = '"x y" [acme/a [b%5D/c:1 (e\u0301) %255D.md:1]'
    assert [(one.path, one.state) for one in await check(sessions, answer, path)] == [
        (path, "quoted")
    ]


async def test_text_and_number_of_citations_are_bounded(sessions: Sessions) -> None:
    await store_texts(sessions, {"long.md": "word " * 1_000})
    checked = await check(sessions, "[acme/long.md:1]" * 150, "long.md")
    assert len(checked) == MOST_CITATIONS
    assert {len(one.text) for one in checked} == {MOST_CHARACTERS}
