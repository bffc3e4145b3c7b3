"""An adapter chooses what a report quotes: none of it may become markup, a command or a control."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Final
from xml.etree import ElementTree

import pytest
from typing_extensions import override

from conformance._reports import FORMATS, Report, badge, matrix, report_of, workflow_commands
from conformance._result import Result, Run

HOSTILE: Final = "</script><b>'\"&\x1b[31m\u202e\x00]]>--><!--"
CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def hostile(run: Run, text: str) -> Report:
    """The same run, with ``text`` at the end of everything that an adapter can choose."""

    def spoilt(result: Result) -> Result:
        return dataclasses.replace(
            result,
            differences=tuple(difference + text for difference in result.differences),
            lane=result.lane and result.lane + text,
            said=result.said and result.said + text,
            note=result.note and result.note + text,
            timeline=tuple((at, side, what + text) for at, side, what in result.timeline),
            check=dataclasses.replace(
                result.check, id=result.check.id + text, title=result.check.title + text
            ),
        )

    return report_of(
        dataclasses.replace(
            run,
            target=run.target + text,
            profile=f"{run.profile}{text}",
            client=run.client + text,
            dialects=(*run.dialects[:-1], run.dialects[-1] + text),
            results=[spoilt(result) for result in run.results],
        )
    )


class _Structure(HTMLParser):
    """Every tag with the names of its attributes; what is text and what a value is left out."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[object] = []
        self.text: list[str] = []
        self.attributes: set[str] = set()
        self.feed(page)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, [name for name, _ in attrs]))
        self.attributes.update(name for name, _ in attrs)

    @override
    def handle_endtag(self, tag: str) -> None:
        self.found.append(f"/{tag}")

    @override
    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @override
    def handle_comment(self, data: str) -> None:
        self.found.append("a comment")


@pytest.mark.parametrize("kind", ["html", "matrix", "badge"])
def test_no_text_becomes_an_element_or_an_attribute(run: Run, kind: str) -> None:
    kinds: dict[str, Callable[[Report], str]] = {
        "html": FORMATS["html"],
        "badge": badge,
        "matrix": lambda report: matrix([report, report]),
    }
    made = kinds[kind]
    # Quotes of the shell in the repeated command are not what is tested here.
    good, bad = (
        _Structure(made(hostile(run, text))) for text in ("'", "'" + HOSTILE.replace("'", ""))
    )

    assert bad.found == good.found
    assert "</script><b>" in "".join(bad.text)


def test_the_policy_of_the_page_lets_its_own_script_run_and_no_other(report: Report) -> None:
    page = FORMATS["html"](report)

    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src &#x27;none&#x27;; ")
    assert "script-src &#x27;sha256-" in policy[1]
    assert page.count("<script>") == 1
    assert not [name for name in _Structure(page).attributes if name.startswith("on")]


def test_the_page_loads_nothing(report: Report) -> None:
    page = FORMATS["html"](report)

    assert (
        re.findall(r"""(?:src|href|action)\s*=\s*["'](?!#)|url\(|@import|<link|fetch\(""", page)
        == []
    )


@pytest.mark.parametrize("kind", FORMATS)
def test_no_control_character_is_in_any_format(run: Run, kind: str) -> None:
    assert CONTROLS.search(FORMATS[kind](hostile(run, HOSTILE))) is None


def test_junit_stays_xml_and_json_stays_json(run: Run) -> None:
    report = hostile(run, HOSTILE)

    root = ElementTree.fromstring(FORMATS["junit"](report))
    assert "</script><b>" in str(root.get("name"))
    assert json.loads(FORMATS["ctrf"](report))["results"]["tests"]
    assert json.loads(FORMATS["json"](report))["target"].startswith(
        "mypkg.adapter:Adapter</script>"
    )


MARKUP: Final = (
    "\n```\n# owned\n| a | b |\n<img src=x> @someone #12 https://elsewhere.invalid "
    "[a](b) **c** ` **d**"
)


def outside_of_code(text: str) -> Iterator[str]:
    """The lines that GitHub reads as Markdown, without their code spans."""
    fence = ""
    for line in text.splitlines():
        opening = re.match(r"`{3,}", line)
        if fence:
            fence = "" if line == fence else fence
        elif opening:
            fence = opening[0]
        else:
            yield re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
    assert fence == ""


def test_nothing_quoted_becomes_markdown(run: Run) -> None:
    clean, spoilt = (list(outside_of_code(FORMATS["md"](hostile(run, t)))) for t in ("", MARKUP))

    assert len(spoilt) == len(clean)
    told = "\n".join(spoilt)
    for markup in ("<img", "@someone", "#12", "https://", "[a]", "**c**", "**d**"):
        assert markup not in told
    assert [line.count("|") - line.count("\\|") for line in spoilt] == [
        line.count("|") for line in clean
    ]


def test_a_workflow_command_is_one_line_and_its_title_ends_where_it_should(run: Run) -> None:
    report = hostile(run, "\n::warning title=a,b::50% \r\n::stop-commands::x")
    titles = [f"{check.status} {check.id}" for check in report.checks]

    commands = workflow_commands(report)

    assert commands
    for line in commands:
        assert len(line.splitlines()) == 1
        found = re.fullmatch(r"::(?:error|warning) title=([^:,]*)::(.*)", line)
        assert found is not None
        assert unescaped(found[1]) in titles
        assert "%" not in re.sub("%(25|0A|0D)", "", found[2])


def unescaped(text: str) -> str:
    """As the runner of a workflow reads it."""
    for code, letter in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, letter)
    return text
