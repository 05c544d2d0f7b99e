"""No address is told with a password or a signature, whatever characters stand before them."""

from __future__ import annotations

import pytest

from jobs.reach import address_without_secrets, without_secrets


@pytest.mark.flash
@pytest.mark.parametrize("path", ["x.jsonl", "it's.jsonl", "a b.jsonl", '"x".jsonl', "a%20b/c.jsonl"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_address_is_told_without_what_it_asks_and_who_asks(scheme: str, path: str) -> None:
    told = address_without_secrets(f"{scheme}://eve:word@host:80/{path}?X-Amz-Signature=SECRET&b=c")
    assert told == f"{scheme}://host:80/{path}"


@pytest.mark.flash
@pytest.mark.parametrize("source", ["inbox/2024-?.jsonl", "s3://bucket/a?.jsonl", "what?.json"])
def test_what_is_no_web_address_keeps_its_question_marks(source: str) -> None:
    assert address_without_secrets(source) == source


@pytest.mark.flash
def test_a_message_keeps_what_it_says_around_an_address() -> None:
    said = "GET 'https://eve:word@host/x.jsonl?sig=SECRET' failed: why?"
    assert without_secrets(said) == "GET 'https://host/x.jsonl' failed: why?"
