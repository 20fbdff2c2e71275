"""The forms of a message about which servers disagree, and what their errors tell of them."""

from dataclasses import dataclass, replace

from app.errors import ModelError
from app.llm.failures import RejectedRequest
from app.llm.messages import AssistantMessage, LlmRequest


@dataclass(frozen=True)
class Forms:
    """`null_content`: null, not `""`, beside tool calls. `reasoning`: it is sent back in a turn."""

    null_content: bool = False
    reasoning: bool = False


USUAL = Forms()


def other_forms(forms: Forms, error: ModelError, request: LlmRequest) -> Forms | None:
    """The forms to try once instead, when the error may be about those of `request`."""
    if not isinstance(error, RejectedRequest):
        return None
    said = error.detail.lower()
    spoken = [message for message in request.messages if isinstance(message, AssistantMessage)]
    if "reasoning" in said and any(message.reasoning for message in spoken):
        return replace(forms, reasoning=not forms.reasoning)
    if "content" in said and any(message.calls and not message.text for message in spoken):
        return replace(forms, null_content=not forms.null_content)
    return None
