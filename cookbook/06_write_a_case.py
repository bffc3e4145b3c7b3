"""Write a case of your own: what a provider sent once, and what an adapter must make of it.
When: production has shown you an answer that no case has, or your provider documents one.
A case is one TOML file; the folder goes to `dsh-conformance TARGET --cases DIR`.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

# The wire under [[exchange]], the promise under [expect]; `dsh-conformance explain code-quota`
# says the rule that it is an example of, `dsh-conformance explain case` every key that there is.
CASE = """\
requirement = "code-quota"
dialect = "any"
title = "A 429 that speaks of prepaid credits is QUOTA, not a rate limit"

[[exchange]]
status = 429
headers = [["content-type", "application/json"], ["retry-after", "86400"]]
body = '{"error":{"code":"insufficient_quota","message":"Your prepaid credits are used up."}}'
end = "eof"

[expect]
requests = 1
outcome = "failure"

[expect.failure]
code = "QUOTA"
status = 429
provider_retry_after_ms = 86400000
"""

# An adapter that takes every 429 for a rate limit, to see the case do its work.
HASTY = """\
import dataclasses

from reference_adapters.deepseek import DeepSeekAdapter


class Hasty(DeepSeekAdapter):
    def refine_failure(self, failure, payload):
        throttled = failure.status == 429
        return dataclasses.replace(failure, code="RATE_LIMIT") if throttled else failure
"""


def judge(target: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one case of one's own: what a person types is `dsh-conformance TARGET --cases DIR`."""
    command = [sys.executable, "-m", "conformance", target, "code_quota/credits_used_up"]
    return subprocess.run(
        [*command, "--cases", str(folder / "cases")], capture_output=True, text=True, check=False
    )


with tempfile.TemporaryDirectory() as name:
    here = Path(name)
    (here / "cases" / "code_quota").mkdir(parents=True)
    (here / "cases" / "code_quota" / "credits_used_up.toml").write_text(CASE)
    (here / "hasty.py").write_text(HASTY)

    kept = judge("deepseek", here)
    assert kept.returncode == 0, kept.stdout

    broken = judge(f"{here / 'hasty.py'}:Hasty", here)
    assert broken.returncode == 1
    (said,) = [line for line in broken.stdout.splitlines() if "expected QUOTA" in line]
    print("the case passes for deepseek; of the hasty adapter it says:")
    print(said.strip())
