from __future__ import annotations

import gc
import itertools
import random
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapter_sdk._sse import EventTooLarge, SseDecoder, SseEvent

BOM = b"\xef\xbb\xbf"
MIB = 1024 * 1024


def feed_all(reads: list[bytes], *, limit: int = 16 * MIB) -> tuple[list[SseEvent], int, bool]:
    """Return the events, the activity and whether the limit was hit."""
    decoder = SseDecoder(max_event_bytes=limit)
    events: list[SseEvent] = []
    for read in reads:
        try:
            events += decoder.feed(read)
        except EventTooLarge as error:
            return events + error.events, decoder.activity, True
    return events, decoder.activity, False


def single_bytes(body: bytes) -> list[bytes]:
    return [body[at : at + 1] for at in range(len(body))]


def pieces(body: bytes, cuts: list[int]) -> list[bytes]:
    bounds = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(bounds)]


def decode_slowly(body: bytes, limit: int) -> tuple[list[SseEvent], int, bool]:
    """Follow the standard line by line over the whole body, as the oracle."""
    *lines, unfinished = re.split(rb"\r\n|\r|\n", body.removeprefix(BOM))
    events: list[SseEvent] = []
    activity = size = 0
    name, data, fields = "", list[bytes](), 0
    for line in lines:
        if line.startswith(b":"):
            if len(line) > limit:
                return events, activity, True
            activity += 1
        elif line:
            size += len(line)
            if size > limit:
                return events, activity, True
            fields += 1
            field, _, value = line.partition(b":")
            value = value[1:] if value[:1] == b" " else value
            if field == b"data":
                data.append(value)
            if field == b"event":
                name = value.decode("utf-8", "replace")
        else:
            activity += fields > 0
            if data:
                events.append(SseEvent(name or "message", b"\n".join(data)))
            name, data, fields, size = "", [], 0, 0
    size = 0 if unfinished.startswith(b":") else size
    return events, activity, size + len(unfinished) > limit


def message(data: bytes) -> SseEvent:
    return SseEvent("message", data)


STREAMS = [
    pytest.param(b"", [], 0, id="nothing"),
    pytest.param(b"data: a\n\n", [message(b"a")], 1, id="lf"),
    pytest.param(b"data: a\r\n\r\n", [message(b"a")], 1, id="crlf"),
    pytest.param(b"data: a\r\r", [message(b"a")], 1, id="cr"),
    pytest.param(b"data: a\r\n\ndata: b\n\r\n", [message(b"a"), message(b"b")], 2, id="mixed-ends"),
    pytest.param(b"data: a\n\r\ndata: b\r\r\n", [message(b"a"), message(b"b")], 2, id="cr-then-lf"),
    pytest.param(BOM + b"data: a\n\n", [message(b"a")], 1, id="byte-order-mark"),
    pytest.param(BOM + BOM + b"data: a\n\n", [], 1, id="second-mark-belongs-to-the-name"),
    pytest.param(
        b"data: a\n\n" + BOM + b"data: b\n\n", [message(b"a")], 2, id="mark-in-the-middle"
    ),
    pytest.param(BOM[:2] + b"data: a\n\n", [], 1, id="half-a-mark"),
    pytest.param(b"data: " + BOM + b"\n\n", [message(BOM)], 1, id="mark-inside-data"),
    pytest.param(b"data:a\n\n", [message(b"a")], 1, id="no-space"),
    pytest.param(b"data:  a\n\n", [message(b" a")], 1, id="one-space-goes-the-next-stays"),
    pytest.param(b"data:\ta\n\n", [message(b"\ta")], 1, id="a-tab-stays"),
    pytest.param(b"data: data: a\n\n", [message(b"data: a")], 1, id="field-name-inside-data"),
    pytest.param(b'data:{"data: ":1}\n\n', [message(b'{"data: ":1}')], 1, id="no-space-but-later"),
    pytest.param(b"data\n\ndata\ndata\n\ndata:", [message(b""), message(b"\n")], 2, id="no-colon"),
    pytest.param(b"data:\n\ndata: \n\n", [message(b""), message(b"")], 2, id="empty-data"),
    pytest.param(
        b"data: a\ndata: b\ndata:c\n\n", [message(b"a\nb\nc")], 1, id="several-data-lines"
    ),
    pytest.param(b"data: a\nid: 7\ndata: b\n\n", [message(b"a\nb")], 1, id="data-lines-apart"),
    pytest.param(b"event: x\ndata: a\n\n", [SseEvent("x", b"a")], 1, id="named"),
    pytest.param(
        b"event: x\ndata: a\n\nevent: x\ndata: b\n\ndata: c\n\n",
        [SseEvent("x", b"a"), SseEvent("x", b"b"), message(b"c")],
        3,
        id="a-name-lasts-one-event",
    ),
    pytest.param(b"data: a\nevent: x\n\n", [SseEvent("x", b"a")], 1, id="name-after-data"),
    pytest.param(b"event: x\nevent: y\ndata: a\n\n", [SseEvent("y", b"a")], 1, id="last-name-wins"),
    pytest.param(b"event: x\nevent\ndata: a\n\n", [message(b"a")], 1, id="an-empty-name-unnames"),
    pytest.param(b"event: x\n\ndata: a\n\n", [message(b"a")], 2, id="a-name-alone-is-forgotten"),
    pytest.param(
        b"event: x\nevent: y\ndata: a\n\n" * 3, [SseEvent("y", b"a")] * 3, 3, id="two-names-again"
    ),
    pytest.param(b"event: \ndata: a\n\n" * 3, [message(b"a")] * 3, 3, id="empty-name-again"),
    pytest.param(
        b"event: x\nid: 1\ndata: a\n\n" * 3, [SseEvent("x", b"a")] * 3, 3, id="name-and-id-again"
    ),
    pytest.param(
        b"event: x\ndata: a\ndata: b\n\n" * 3, [SseEvent("x", b"a\nb")] * 3, 3, id="two-data-again"
    ),
    pytest.param(b"event: x\n: hm\ndata: a\n\n", [SseEvent("x", b"a")], 2, id="comment-inside"),
    pytest.param(b": x-cost=1\n: 2\ndata: a\n\n", [message(b"a")], 3, id="comments-above-data"),
    pytest.param(b": keep-alive\n\n:\n\n:\n", [], 3, id="comments-alone"),
    pytest.param(b"\n\n\r\n\r", [], 0, id="blank-lines-alone"),
    pytest.param(
        b"\n\n\ndata: a\n\n\n\n\ndata: b\n\n", [message(b"a"), message(b"b")], 2, id="blanks"
    ),
    pytest.param(b"id: 1\nretry: 5\n\n", [], 1, id="id-and-retry-dispatch-nothing"),
    pytest.param(b"DATA: a\ndata : b\n data: c\n\n", [], 1, id="other-names-are-unknown"),
    pytest.param(b"error: {}\n\n", [], 1, id="unknown-field"),
    pytest.param(b"data: a\n\ndata: b", [message(b"a")], 1, id="unfinished-line-is-dropped"),
    pytest.param(b"data: a\n\ndata: b\n", [message(b"a")], 1, id="no-blank-line-no-event"),
    pytest.param(b"data: a\r\n\r\ndata: b\r\n", [message(b"a")], 1, id="no-blank-line-crlf"),
    pytest.param(b"\x00data: a\n\ndata: \x00\n\n", [message(b"\x00")], 2, id="nul"),
    pytest.param(
        "data: a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\n\n".encode(),
        [message("a\u2028b\u2029c\x85d\x0be\x0cf\x1cg".encode())],
        1,
        id="other-separators-do-not-split",
    ),
    pytest.param(b"data: \xff\xe4\xbd\n\n", [message(b"\xff\xe4\xbd")], 1, id="bytes-stay-bytes"),
    pytest.param(b"event: \xff\ndata: a\n\n", [SseEvent("\ufffd", b"a")], 1, id="invalid-name"),
]


@pytest.mark.parametrize(("body", "events", "activity"), STREAMS)
def test_a_stream_gives_its_events_at_every_split(
    body: bytes, events: list[SseEvent], activity: int
) -> None:
    expected = (events, activity, False)
    assert feed_all([body]) == expected
    assert feed_all(single_bytes(body)) == expected
    for seed in range(40):
        chooser = random.Random(seed)
        cuts = [chooser.randrange(len(body) + 1) for _ in range(chooser.randrange(1, 6))]
        assert feed_all(pieces(body, cuts)) == expected
    assert decode_slowly(body, 16 * MIB) == expected


BODIES = st.lists(
    st.sampled_from(
        [
            *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b":", b": ", b" ", BOM, BOM[:1]),
            *(b"data: ", b"data:", b"data", b"event: ", b"event", b"event: x\n", b"id: 1", b"d"),
            *(b"data: a\n\n", b"event: x\ndata: b\n\n", b": c\n\n", b"\xc2\x85", b"\xff", b"xyz"),
        ]
    ),
    max_size=40,
).map(b"".join)
CUTS = st.lists(st.integers(0, 400), max_size=8)
LIMITS = st.one_of(st.just(16 * MIB), st.integers(1, 30))


@given(body=BODIES, cuts=CUTS, limit=LIMITS)
def test_every_split_agrees_with_a_slow_decoder(body: bytes, cuts: list[int], limit: int) -> None:
    expected = decode_slowly(body, limit)
    assert feed_all(pieces(body, cuts), limit=limit) == expected
    assert feed_all(single_bytes(body), limit=limit) == expected


@given(body=st.binary(max_size=200), cuts=CUTS)
def test_arbitrary_bytes_agree_with_a_slow_decoder(body: bytes, cuts: list[int]) -> None:
    assert feed_all(pieces(body, cuts)) == decode_slowly(body, 16 * MIB)


@pytest.mark.parametrize(
    ("reads", "counts"),
    [
        pytest.param([b": ke", b"ep-alive", b"\n", b"\n"], [0, 0, 1, 1], id="comment-at-its-end"),
        pytest.param([b"data: a", b"bc\n", b"\n", b"\n\n"], [0, 0, 1, 1], id="block-at-its-end"),
        pytest.param([b"id: 1\n", b"\r\n", b"\n\n"], [0, 1, 1], id="block-without-data"),
        pytest.param([b":\n:\ndata: a\n\n", b"data: b\n\n"], [3, 4], id="several-in-a-read"),
    ],
)
def test_activity_grows_with_finished_lines_only(reads: list[bytes], counts: list[int]) -> None:
    decoder = SseDecoder()
    seen = []
    for read in reads:
        decoder.feed(read)
        seen.append(decoder.activity)
    assert seen == counts


@pytest.mark.parametrize(
    ("reads", "counts"),
    [
        pytest.param([b"data: a\r", b"\r", b"\ndata: b\r\r"], [0, 1, 1], id="cr-ends-its-line"),
        pytest.param([b"data: a\r\n\r", b"\n", b"data: b\n\n"], [1, 0, 1], id="late-lf-swallowed"),
        pytest.param([b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"], [0, 0, 1, 0], id="torn-crlf"),
    ],
)
def test_a_carriage_return_delivers_at_once(reads: list[bytes], counts: list[int]) -> None:
    decoder = SseDecoder()
    assert [len(decoder.feed(read)) for read in reads] == counts


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(b"data: " + b"x" * 94, id="data"),
        pytest.param(b": " + b"x" * 98, id="comment"),
        pytest.param(b"unknown: " + b"x" * 91, id="unknown-field"),
        pytest.param(b"data: xxxx\ndata: " + b"x" * 84, id="two-data-lines"),
        pytest.param(b"event: x\ndata: " + b"x" * 86, id="name-and-data"),
    ],
)
@pytest.mark.parametrize("ending", [b"\n\n", b"\r\n\r\n", b""], ids=["lf", "crlf", "unfinished"])
def test_a_limit_admits_exactly_its_bytes(line: bytes, ending: bytes) -> None:
    good = b"data: before\n\n"
    for body, too_large in ((good + line + ending, False), (good + line + b"x" + ending, True)):
        for reads in ([body], single_bytes(body)):
            events, _, refused = feed_all(reads, limit=100)
            assert (events[0], refused) == (message(b"before"), too_large)


def test_comments_do_not_count_towards_the_event_around_them() -> None:
    body = b"data: " + b"x" * 80 + b"\n" + (b": " + b"y" * 90 + b"\n") * 5 + b"data: z\n\n"
    expected = ([message(b"x" * 80 + b"\nz")], 6, False)
    assert feed_all([body], limit=100) == expected
    assert feed_all(single_bytes(body), limit=100) == expected


def test_an_endless_line_is_refused_before_it_is_held() -> None:
    decoder = SseDecoder(max_event_bytes=MIB)
    decoder.feed(b"data: " + b"x" * (MIB - 6))
    with pytest.raises(EventTooLarge, match=r"^an event .* limit of 1048576 bytes$") as caught:
        decoder.feed(b"x")
    assert caught.value.events == []
    assert decoder.feed(b"\n\ndata: later\n\n") == []


def test_events_before_one_that_is_too_large_come_with_the_error() -> None:
    decoder = SseDecoder(max_event_bytes=20)
    with pytest.raises(EventTooLarge) as caught:
        decoder.feed(b"data: a\n\nevent: b\ndata: b\n\ndata: " + b"x" * 20 + b"\n\ndata: c\n\n")
    assert caught.value.events == [message(b"a"), SseEvent("b", b"b")]
    assert decoder.activity == 2


LONG = b"x" * 200 * 1024


@pytest.mark.parametrize(
    ("body", "data", "activity"),
    [
        pytest.param(b"data: %b\n\n", LONG, 1, id="one-line"),
        pytest.param(b"data:%b\r\n\r\n", LONG, 1, id="without-a-space-and-crlf"),
        pytest.param(
            b"data: a\ndata: %b\ndata: z\n\n", b"a\n" + LONG + b"\nz", 1, id="among-lines"
        ),
        pytest.param(b"data: %b\ndata: %b\n\n", LONG + b"\n" + LONG, 1, id="two-in-a-block"),
        pytest.param(b"data: %b\nid: 1\n\n", LONG, 1, id="before-another-field"),
        pytest.param(b": %b\ndata: a\n\n", b"a", 2, id="a-comment"),
        pytest.param(b"other: %b\ndata: a\n\n", b"a", 1, id="an-unknown-field"),
        pytest.param(b"database: %b\ndata: a\n\n", b"a", 1, id="a-field-that-begins-alike"),
        pytest.param(b"data: :data: %b\n\n", b":data: " + LONG, 1, id="colons-in-the-value"),
    ],
)
@pytest.mark.parametrize("read_bytes", [1_000, 1 << 14, 1 << 16, 70_001])
def test_a_long_line_arrives_whole_over_many_reads(
    body: bytes, data: bytes, activity: int, read_bytes: int
) -> None:
    body = b"event: x\n" + body.replace(b"%b", LONG) + b"data: after\n\n"
    reads = [body[at : at + read_bytes] for at in range(0, len(body), read_bytes)]
    assert feed_all(reads) == ([SseEvent("x", data), message(b"after")], activity + 1, False)


@pytest.mark.parametrize("prefix", [b"data: ", b"data:", b"event: x\ndata: ", b"data: a\ndata: "])
@pytest.mark.parametrize("ending", [b"\n\n", b"\n\ndata: b\n\n", b""], ids=["lf", "more", "none"])
def test_a_limit_admits_exactly_its_bytes_of_a_long_line(prefix: bytes, ending: bytes) -> None:
    limit = len(prefix.replace(b"\n", b"")) + len(LONG)
    for more, too_large in ((b"", False), (b"x", True)):
        body = prefix + LONG + more + ending
        reads = [body[at : at + 9_999] for at in range(0, len(body), 9_999)]
        events, _, refused = feed_all(reads, limit=limit)
        assert (len(events), refused) == (0 if too_large else ending.count(b"\n\n"), too_large)


def test_closing_drops_a_long_line() -> None:
    decoder = SseDecoder()
    decoder.feed(b"data: " + LONG)
    decoder.close()
    assert (decoder.feed(b"\n\ndata: a\n\n"), decoder.activity) == ([], 0)


def test_nothing_is_dispatched_after_close() -> None:
    decoder = SseDecoder()
    assert decoder.feed(b"data: a\n\ndata: b\n") == [message(b"a")]
    decoder.close()
    assert decoder.feed(b"\ndata: c\n\n") == []
    assert decoder.activity == 1


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_byte_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=f"^max_event_bytes: above zero, got {limit}$"):
        SseDecoder(max_event_bytes=limit)


def test_the_limit_is_sixteen_mebibytes_unless_another_is_given() -> None:
    event = b"data: " + b"x" * (16 * MIB - 6)
    assert len(SseDecoder().feed(event + b"\n\n")) == 1
    with pytest.raises(EventTooLarge, match=f" {16 * MIB} bytes$"):
        SseDecoder().feed(event + b"x")


def test_more_names_than_are_remembered_still_arrive() -> None:
    names = [f"name-{number}" for number in range(200)] * 2
    body = b"".join(b"event: %s\ndata: a\n\n" % name.encode() for name in names)
    assert feed_all([body])[0] == [SseEvent(name, b"a") for name in names]


def cost(body: bytes, read_bytes: int) -> float:
    """Return CPU seconds, the best of five runs, without the collector, as ``timeit`` does."""
    reads = [body[at : at + read_bytes] for at in range(0, len(body), read_bytes)]
    best = float("inf")
    gc.disable()
    try:
        for _ in range(5):
            decoder = SseDecoder(max_event_bytes=len(body))
            started = time.process_time()
            for read in reads:
                decoder.feed(read)
            best = min(best, time.process_time() - started)
    finally:
        gc.enable()
    return best


@pytest.mark.parametrize(
    ("unit", "before", "after", "small", "read_bytes"),
    [
        pytest.param(b"x", b"data: ", b"\n\n", MIB, 16384, id="one-line"),
        pytest.param(b"data: xyz\n", b"", b"\n", MIB // 16, 4096, id="lines-of-one-event"),
        pytest.param(b"data: 1\n\n", b"", b"", MIB // 16, MIB, id="many-events-in-a-read"),
        pytest.param(b"data: 1\r\n\r\n", b"", b"", MIB // 16, 7, id="tiny-reads"),
    ],
)
def test_cost_grows_in_step_with_size(
    unit: bytes, before: bytes, after: bytes, small: int, read_bytes: int
) -> None:
    # Sixteen times the bytes; a quadratic decoder takes 256 times as long.
    small_cost = cost(before + unit * (small // len(unit)) + after, read_bytes)
    large_cost = cost(before + unit * (16 * small // len(unit)) + after, read_bytes)
    assert large_cost <= 24 * small_cost + 0.05
