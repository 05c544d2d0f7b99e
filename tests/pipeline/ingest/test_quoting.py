"""What is quoted is enough to find a place again, and no secret."""

from __future__ import annotations

import pytest

from pipeline.ingest.quoting import SHOWN, quoted, shown

pytestmark = pytest.mark.flash

SECRETS = (
    "sk-live-51H8abcdefGHIJKLmnopqrSTUVwxyz0123456789",
    "AbC123+/=" * 5,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "0123456789abcdef01234567",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("before", ["", "token: ", "x" * 10 + " ", " " * 39, "word " * 7])
def test_a_value_is_quoted_up_to_where_it_may_become_a_secret(secret: str, before: str) -> None:
    assert quoted(f"{before}{secret} and more") == f"{before}..."


@pytest.mark.parametrize(
    "value",
    [
        *("D8:6; D9:17", "D14:8-D14:13;D15:16-D15:20", "1:56 pm on 31 September, 2023", "2023/02/31 (Fri) 02:21"),
        *("2023-05-20T02:21:00.123456+99:00", "20230520T022100.123456Z", "29.12.2023, 99:51:12", "2024年04月31日 周一"),
    ],
)
def test_a_time_or_a_list_of_turns_is_quoted_whole(value: str) -> None:
    assert quoted(value) == value


@pytest.mark.parametrize("text", ["", "short", "word " * 1_000_000, "x" * 1_000_000])
def test_what_is_quoted_or_shown_is_short(text: str) -> None:
    assert len(quoted(text)) <= SHOWN + 3
    assert shown(text) == (text if len(text) <= SHOWN else f"{text[:SHOWN]}...")
