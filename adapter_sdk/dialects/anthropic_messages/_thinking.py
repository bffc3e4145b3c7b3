"""From an effort to the fields that ask for it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..._codes import UNSUPPORTED_OPTION
from ..._dialect import Json
from ..._failure import local_error
from .._said import unsupported_effort


def thinking_fields(
    effort: str, *, budgets: Mapping[str, int], efforts: Collection[str], max_tokens: int
) -> dict[str, Json]:
    """Return the fields of the body that ask for ``effort``.

    Args:
        effort: The caller's word.
        budgets: See ``AnthropicMessages``, like the next.
        efforts: Words that go out as they are.
        max_tokens: Cap of the answer, thinking included.

    Raises:
        LlmError: UNSUPPORTED_REASONING_EFFORT for a word that is in neither; UNSUPPORTED_OPTION
            where the cap leaves no room for the budget.
    """
    if effort in budgets:
        return {"thinking": _budgeted(effort, budgets[effort], max_tokens)}
    if effort not in efforts:
        raise unsupported_effort(effort, dict.fromkeys((*budgets, *efforts)))
    if effort == "off":
        return {"thinking": {"type": "disabled"}}
    return {"thinking": {"type": "adaptive"}, "output_config": {"effort": effort}}


def _budgeted(effort: str, budget: int, max_tokens: int) -> Json:
    if budget == 0:
        return {"type": "disabled"}
    if budget >= max_tokens:
        # The provider refuses it; a smaller budget would be another effort than the one asked.
        raise local_error(
            UNSUPPORTED_OPTION,
            f"max_tokens: {max_tokens} leaves no room beside the {budget} thinking tokens "
            f"of effort {effort!r}",
        )
    return {"type": "enabled", "budget_tokens": budget}
