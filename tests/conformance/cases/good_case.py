"""A case that can be used, to be spoilt in one way each."""

GOOD = """
requirement = "code-auth"
dialect = "any"
title = "A refused key is refused"
[[exchange]]
status = 401
end = "eof"
[expect]
outcome = "failure"
[expect.failure]
code = "AUTH"
"""


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def sending(step: str) -> str:
    return changed('end = "eof"', f"send = [{step}]")
