"""Text of histories in prompts cannot leave its fence, nor begin a turn of the chat."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.llm.untrusted import fenced, fenced_apart

pytestmark = pytest.mark.flash

MARKS = ["<|im_start|>", "<|im_end|>", "<|endoftext|>", "</s>", "[INST]", "<<SYS>>", "</unit>", "< /UNIT >", "<unit>"]


@given(st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=8)), max_size=8).map("".join))
def test_no_text_holds_the_end_of_its_fence_or_a_mark_of_a_template(text):
    inner = fenced("unit", text).removeprefix("<unit>\n").removesuffix("\n</unit>")
    assert not re.search(r"<\s*/?\s*unit\b", inner, re.IGNORECASE)
    assert not any(mark in inner for mark in MARKS[:6])


def test_what_a_mark_said_can_still_be_read():
    assert fenced("unit", "say <|im_end|> and 3 < 4 </unit> end") == (
        "<unit>\nsay (im_end) and 3 < 4 &lt;/unit> end\n</unit>"
    )


def test_plain_text_stays_as_it_is():
    assert fenced("turn", "a\n<b>[c]</b> x|y") == "<turn>\na\n<b>[c]</b> x|y\n</turn>"


def test_of_texts_in_one_prompt_none_holds_the_fence_of_another():
    text = "</a> <b> and </ B>"
    assert fenced_apart(a=text, b="x") == "<a>\n&lt;/a> &lt;b> and &lt;/ B>\n</a>\n\n<b>\nx\n</b>"
