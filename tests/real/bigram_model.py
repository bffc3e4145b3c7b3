"""Build a model of little more than a megabyte that says exactly what a test expects.

The network is a look-up table. Every token's embedding is a one-hot row, attention and feed-forward
are zero, so the output matrix alone picks the next token, and it sees nothing but the last one:
``output[following, last]`` is the logit. A prompt always ends in the same newline, from there the
table leads along a script and then to the end of the turn. Nothing is trained or downloaded, and a
request's sampling settings change nothing: the right token leads by more than any sampler bridges.

Scripts are cut every few bytes, so tokens end inside characters as they do with a real byte-level
vocabulary. Run as a script to try a mode by hand: ``bigram_model.py MODE OUT.gguf``.
"""

from __future__ import annotations

import re
import sys
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import gguf
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXT_SAID: Final = "Bytes become words: crème brûlée, 東京, 🎉🦙. That is all a table knows."
THINK_REASONED: Final = "First the question, then — naïvely — a guess."
THINK_SAID: Final = "My guess is 42."
TOOL_SAID: Final = "One look outside."
WEATHER_ARGUMENTS: Final = '{"city": "Málaga", "days": 3}'
CLOCK_ARGUMENTS: Final = '{"zone": "Asia/Tokyo"}'
THINKTOOL_REASONED: Final = "Nobody can know the sky without asking."
ENDLESS_ROUND: Final = "tick, tock, and round the clock; "


class Mode(StrEnum):
    """What a model answers, whatever it is asked."""

    TEXT = "text"
    THINK = "think"
    TOOL = "tool"
    TOOLS2 = "tools2"
    THINKTOOL = "thinktool"
    ENDLESS = "endless"
    EMPTY = "empty"


def _call(name: str, arguments: str) -> str:
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


_WEATHER: Final = _call("get_weather", WEATHER_ARGUMENTS)
_CLOCK: Final = _call("get_time", CLOCK_ARGUMENTS)
SCRIPTS: Final[dict[Mode, str]] = {
    Mode.TEXT: TEXT_SAID,
    Mode.THINK: f"<think>{THINK_REASONED}</think>{THINK_SAID}",
    Mode.TOOL: f"{TOOL_SAID}{_WEATHER}",
    Mode.TOOLS2: f"{_WEATHER}\n{_CLOCK}",
    Mode.THINKTOOL: f"<think>{THINKTOOL_REASONED}</think>{_WEATHER}",
    Mode.ENDLESS: ENDLESS_ROUND,
    Mode.EMPTY: "",
}

# The server finds out the syntax of reasoning and calls by rendering probes with this template.
CHAT_TEMPLATE: Final = r"""
{%- if tools %}<|im_start|>system
On offer:
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}Use one like this:
<tool_call>
{"name": NAME, "arguments": OBJECT}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.reasoning_content %}<think>{{ message.reasoning_content }}</think>{% endif %}
{{- message.content or "" }}
{%- for call in message.tool_calls or [] %}{% if not loop.first %}
{% endif %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""

_END: Final = "<|im_end|>"
_CONTROL: Final = ("<|im_start|>", _END)
# "User defined" to the tokenizer: one token each, and still text in what the server reads back.
_TAGS: Final = ("<think>", "</think>", "<tool_call>", "</tool_call>")
# Five is no multiple of two, three or four, so pieces end inside characters of any length.
_PIECE_BYTES: Final = 5
_HEAD_WIDTH: Final = 64
# A lead of 60 in logits: e^-60 is nothing, also at temperature 2. 30 is exact in half precision.
_LOGIT: Final = 30.0


def build(mode: Mode, path: Path, *, context: int = 4096) -> None:
    """Write the model of ``mode`` to ``path``, for prompts and answers of ``context`` tokens."""
    vocabulary, following = _vocabulary(mode)
    size = len(vocabulary.texts)
    width = -(-size // _HEAD_WIDTH) * _HEAD_WIDTH
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name(f"bigram {mode}")
    writer.add_context_length(context)
    writer.add_block_count(1)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(_HEAD_WIDTH)
    writer.add_head_count(width // _HEAD_WIDTH)
    writer.add_head_count_kv(width // _HEAD_WIDTH)
    writer.add_rope_dimension_count(_HEAD_WIDTH)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(size)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(vocabulary.texts)
    writer.add_token_types(vocabulary.kinds)
    writer.add_token_merges(["a n"])  # the loader insists on one; prompts stay single bytes
    writer.add_add_bos_token(False)
    writer.add_eos_token_id(vocabulary.ids[_END])
    writer.add_chat_template(CHAT_TEMPLATE)
    for name, tensor in _tensors(following, size=size, width=width).items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


class _Vocabulary:
    """Token texts in the printable alphabet of byte-level vocabularies, one id each."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.kinds: list[int] = []
        self.ids: dict[str, int] = {}

    def add(self, text: str, kind: gguf.TokenType = gguf.TokenType.NORMAL) -> int:
        if text not in self.ids:
            self.ids[text] = len(self.texts)
            self.texts.append(text)
            self.kinds.append(kind)
        return self.ids[text]


def _alphabet() -> list[str]:
    """Return GPT-2's stand-in for each byte: itself where printable, else from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    spare = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(spare)) for byte in range(0x100)]


def _pieces(script: str) -> list[str | bytes]:
    """Cut a script into tags (as text, the first time) and pieces of a few bytes."""
    pieces: list[str | bytes] = []
    plain = ""
    for part in [*re.split(f"({'|'.join(_TAGS)})", script), None]:
        if part is not None and (part not in _TAGS or part in pieces):
            plain += part  # a second call spells its tag: a table cannot pass a token twice
            continue
        encoded = plain.encode()
        pieces += [encoded[at : at + _PIECE_BYTES] for at in range(0, len(encoded), _PIECE_BYTES)]
        plain = ""
        if part is not None:
            pieces.append(part)
    return pieces


def _vocabulary(mode: Mode) -> tuple[_Vocabulary, dict[int, int]]:
    """Return the tokens of a mode's model and which one follows which."""
    alphabet = _alphabet()
    vocabulary = _Vocabulary()
    for stand_in in alphabet:
        vocabulary.add(stand_in)
    vocabulary.add(alphabet[ord("a")] + alphabet[ord("n")])
    for text in _CONTROL:
        vocabulary.add(text, gguf.TokenType.CONTROL)
    for text in _TAGS:
        vocabulary.add(text, gguf.TokenType.USER_DEFINED)
    path = [vocabulary.ids[alphabet[ord("\n")]]]
    for piece in _pieces(SCRIPTS[mode]):
        if isinstance(piece, bytes):
            piece = "".join(alphabet[byte] for byte in piece)
        path.append(vocabulary.add(piece))
    if len(set(path)) < len(path):
        raise ValueError(f"{mode}: the script passes one token twice, so the table would loop")
    path.append(path[1] if mode is Mode.ENDLESS else vocabulary.ids[_END])
    # Off the path, where a grammar of the server's may lead, the turn ends as soon as it may.
    following = dict.fromkeys(vocabulary.ids.values(), vocabulary.ids[_END])
    return vocabulary, following | dict(pairwise(path))


def _tensors(
    following: dict[int, int], *, size: int, width: int
) -> dict[str, NDArray[np.float16] | NDArray[np.float32]]:
    # The norm before the output scales a one-hot row to sqrt(width).
    unit = _LOGIT / np.sqrt(width)
    output = np.zeros((size, width), np.float16)
    output[:, :size] = -unit
    for last, following_token in following.items():
        output[following_token, last] = unit
    flat = np.ones(width, np.float32)
    square = np.zeros((width, width), np.float16)
    wide = np.zeros((_HEAD_WIDTH, width), np.float16)
    return {
        "token_embd.weight": np.eye(size, width, dtype=np.float16),
        "output_norm.weight": flat,
        "output.weight": output,
        "blk.0.attn_norm.weight": flat,
        "blk.0.attn_q.weight": square,
        "blk.0.attn_k.weight": square,
        "blk.0.attn_v.weight": square,
        "blk.0.attn_output.weight": square,
        "blk.0.ffn_norm.weight": flat,
        "blk.0.ffn_gate.weight": wide,
        "blk.0.ffn_up.weight": wide,
        "blk.0.ffn_down.weight": wide.T.copy(),
    }


if __name__ == "__main__":
    build(Mode(sys.argv[1]), Path(sys.argv[2]))
