"""What the sentences of errors mean, for providers that name nothing.

Patterns are matched against lower-case text without addresses, white space collapsed.
The groups are tried in order: a limit by the minute also speaks of tokens and quotas, and
must not be taken for either. Compaction is destructive, so an overflow has to be about what
goes into the model: a limit on output tokens is none.

[R] recorded traffic, [D] documentation or public reports, [C] a conformance case.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from ._codes import AUTH, CONTENT_FILTER, CONTEXT_WINDOW_EXCEEDED, QUOTA, RATE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable

_RATE_LIMIT: Final = (
    r"\brate[ _-]?limit(?:s|ed|ing)?\b",  # [R] OpenRouter 429, Azure 429; [D] nearly all
    r"\btoo many (?:concurrent )?requests\b",  # [R] nginx 429; [D] all
    r"\bper[ -](?:second|minute|min|sec)\b",  # [C] Groq 413; [D] OpenAI 429
    r"\b(?:requests|tokens|calls)(?: per | ?/ ?)(?:s|sec|m|min|h|hour|d|day)\b",  # [D] Groq
    r"\b(?:tpm|rpm|tpd|rpd|qps)\b",  # [C] Groq 413; [D] OpenAI 429
    r"\bthrottl(?:ed|ing)\b",  # [D] Bedrock, DashScope
    r"\btoo many tokens\b.{0,40}\bwait\b",  # [C] Bedrock 429
    r"\bconcurren(?:t|cy)\b.{0,40}\b(?:limit|exceed|too (?:high|many))",  # [D] DeepSeek, z.ai
    r"\brequest rate\b|\bslow down\b",  # [D] OpenAI, Azure
    r"\bquota\b.{0,2000}\b(?:retry|try again) (?:in|after) [0-9]",  # [R] Google 429
    r"限流|速率限制|频率|过于频繁|请求过多|并发",  # [D] z.ai, Qwen
)

_CONTENT_FILTER: Final = (
    r"\bcontent (?:management|filter(?:ing)?|moderation|safety) polic",  # [D] Azure, Anthropic 400
    r"\b(?:by|as a result of) (?:the|our|a) (?:content filter|safety system)",  # [D] OpenAI 400
    r"\bflagged (?:as|for|by)\b",  # [D] OpenRouter 403, OpenAI 400
    r"\bviolat\w+ (?:\w+ ){0,4}(?:usage|content|safety) (?:guideline|polic)",  # [D] xAI 403
    r"\binappropriate content\b",  # [D] DashScope 400
    r"\bcontent exists risk\b",  # [D] DeepSeek 400
    r"\bconsidered high risk\b",  # [D] Moonshot 400
    r"敏感内容|违规内容",  # [D] z.ai 400
)

_QUOTA: Final = (
    r"\binsufficient (?:account |user )?(?:balance|credits?|funds|quota)\b",  # [C] DeepSeek 402
    r"\bnot enough (?:balance|credits?|funds)\b",  # [D] gateways
    r"\bbalance (?:is )?(?:too low|insufficient|not enough|exhausted|depleted)\b",  # [D] Anthropic
    r"\bexceed\w* (?:\w+ ){0,3}quota\b",  # [D] OpenAI 429: your current quota
    r"\bquota (?:\w+ ){0,2}(?:exceeded|exhausted|reached|used up)\b",  # [C]
    r"\bbudget has been exceeded\b",  # [D] litellm 400
    r"\b(?:out of|no|used all|more|add) (?:\w+ ){0,2}credits?\b",  # [D] OpenRouter 402, xAI 403
    r"\b(?:monthly|weekly) (?:\w+ )?(?:limit|cap)\b",  # [C] a 429 with a wait of days
    r"\busage (?:limits?|cap) (?:\w+ ){0,2}(?:reached|exceeded)\b",  # [D] OpenAI's plans
    r"\b(?:reached|exceeded|hit) (?:\w+ ){0,4}(?:usage|spend(?:ing)?|billing) (?:limit|cap)",  # [D]
    r"\bpayment required\b",  # [D] gateways
    r"余额不足|欠费|额度不足|额度已用",  # [D] z.ai, new-api gateways
)

_OVERFLOW: Final = (
    r"\bmaximum context (?:length|size|window)\b",  # [C]; [R] DeepSeek 400; [D] OpenAI, vLLM
    r"\bexceed\w*\b[^.]{0,80}\bcontext[ _](?:window|length|size|limit)\b",  # [C]; [R] llama.cpp
    r"\bcontext[ _](?:window|length|size|limit)\b[^.]{0,30}\b(?:exceed|overflow)",  # [R] llama.cpp
    r"\b(?:longer|greater) than the (?:\w+(?:'s)? ){0,3}(?:context|model) length",  # [D] vLLM
    r"\bprompt(?: tokens?| length)?(?: is| are)? too (?:long|large)\b",  # [C] Anthropic 400, Ollama
    r"\binput(?: tokens?| length| text)?(?: is| are)? too long\b",  # [D] Bedrock 400
    r"\b(?:input|prompt) (?:length|tokens?|token count)\b[^.]{0,60}\bexceed",  # [C]; [D] Google 400
    r"\btokens in the prompt cannot exceed\b",  # [D] Cohere 400
    r"\bmaximum prompt length is [0-9]",  # [D] xAI 400
    r"\breduce (?:the length of )?(?:the |your )(?:messages|prompt|input)\b",  # [D] Groq 400
    r"\brange of input length should be\b",  # [C] DashScope 400
    r"\bexceed\w* (?:the )?model(?:'s)? token limit\b",  # [D] Moonshot 400
    r"\bexceed\w* max message tokens\b",  # [D] Volcengine 400
    r"\binputs?`? tokens \+ `?max_(?:new_)?tokens`? must be\b",  # [D] TGI 422
    r"\binputs?`? must have less than [0-9]+ tokens\b",  # [D] TGI 422
    r"(?:prompt|输入|上下文)[^。]{0,10}(?:超长|过长|超出|超过)",  # [C] z.ai 1261
)

_AUTH: Final = (
    r"\b(?:incorrect|invalid|wrong|missing|expired|no) (?:x-)?api[ _-]?key\b",  # [R] OpenAI, Groq
    r"\bapi[ _-]?key(?: \S+){0,2} (?:not valid|invalid|expired|incorrect|missing)\b",  # [R] Google
    r"\bapi key: \S+ is invalid\b",  # [R] DeepSeek 401
    r"\b(?:didn't|did not) provide an api key\b",  # [D] OpenAI 401
    r"\bauthentication (?:failed|fails|required)\b",  # [R] DeepSeek 401
    r"\bno auth credentials\b",  # [D] OpenRouter 401
    r"\binvalid (?:bearer|access|auth\w*) (?:token|key|header|credentials)\b",  # [D] gateways
    r"无效的令牌|身份验证失败|鉴权失败",  # [D] new-api gateways, z.ai 401
)

# As text: they take as long to compile as a third of the SDK's import, and most runs need none.
WORDINGS: Final = tuple(
    (code, "|".join(patterns))
    for code, patterns in (
        (RATE_LIMIT, _RATE_LIMIT),
        (CONTENT_FILTER, _CONTENT_FILTER),
        (QUOTA, _QUOTA),
        (CONTEXT_WINDOW_EXCEEDED, _OVERFLOW),
        (AUTH, _AUTH),
    )
)

# A quota message often links to a page about rate limits.
_ADDRESS: Final = re.compile(r"https?://\S+")


def code_of_wording(texts: Iterable[str]) -> str | None:
    """Return the code that the sentences of one error speak of, or None."""
    plain = [" ".join(_ADDRESS.sub(" ", text.lower()).split()) for text in texts]
    for code, pattern in WORDINGS:
        if any(re.search(pattern, text) for text in plain):
            return code
    return None
