"""What `slatemill show` and `run` say where little or nothing fits: why a slate is empty, and the text of one alone."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass

import pytest
from inside import LEXICAL, delivered, printed, ran, said_by_main, stored
from rich.console import Console

from cluster.errors import NoSnapshot
from cluster.lake import Lake
from cluster.report import RunReport
from jobs.overrides import override
from jobs.report import show_empty
from jobs.run import empty_slates
from jobs.show import show


@dataclass(frozen=True)
class Asked:
    """A lake with requests that see nothing for several reasons and some that see six words, and its run's report."""

    lake: Lake
    report: RunReport


@pytest.fixture(scope="module")
def asked(tmp_path_factory) -> Asked:
    folder = tmp_path_factory.mktemp("asked")
    text = "Where is the kite?"
    said = {
        "sessions": [
            {
                "session_id": "s",
                "time": "2024-01-01",
                "turns": [{"role": "user", "text": f"the red kite flew over hill {number}"} for number in (1, 2)],
            }
        ]
    }
    lake = stored(folder, [{"history_id": "h", "requests": [{"request_id": "too early", "text": text}]}], "native")
    requests = [
        {"request_id": "sees all", "text": text},
        {"request_id": "before", "text": text, "asked_at": "2023-01-01"},
        {"request_id": "other words", "text": "zebra"},
    ]
    lines = [
        {"history_id": "h", **said, "requests": requests},
        {"history_id": "hh", "requests": [{"request_id": "misspelt", "text": text}]},
    ]
    delivered(lake, folder / "2", lines, "native")
    report, _ = ran(lake, override(LEXICAL, "5,40", None))
    return Asked(lake, report)


@pytest.mark.cluster
@pytest.mark.parametrize(
    ("request_id", "budget", "why"),
    [
        ("too early", 40, "all 2 of its history came after it; `run --as-of latest` shows them"),
        ("before", 40, "all that had come of its history happened after it was asked"),
        ("misspelt", 40, "none of its history was stored when this ran"),
        ("sees all", 5, "no turn of the pool fits the budget"),
        ("sees all", 40, None),
    ],
)
def test_an_empty_slate_says_why_it_is_empty(asked, request_id, budget, why):
    shown = show(asked.lake, "lexical", None, request_id, budget=budget)
    assert (shown.slate.text == "") == (why is not None)
    assert (why is None) == (shown.empty is None)
    assert why is None or why in shown.empty
    assert shown.as_dict()["empty"] == shown.empty
    assert ("(empty: " in printed(shown, 80)) == (why is not None)


@pytest.mark.cluster
def test_of_a_request_that_shares_no_word_with_its_history_it_is_said_and_its_turns_have_no_rank_by_words(asked):
    note = "no turn shares a word with the request"
    shown = show(asked.lake, "lexical", None, "other words", budget=40)
    assert any(said.startswith(note) and "profile default" in said for said in shown.notes)
    assert re.findall(r"^ +(\d) b2 s0 t\d +(\S+) +\d *$", printed(shown, 80), re.M) == [("1", "-"), ("2", "-")]
    for request_id in ("sees all", "before", "misspelt"):
        assert not [said for said in show(asked.lake, "lexical", None, request_id).notes if note in said]


@pytest.mark.cluster
def test_the_text_alone_is_what_a_model_is_given(asked, monkeypatch, capsys):
    text = show(asked.lake, "lexical", None, "sees all", budget=40).slate.text
    ask = ("show", asked.lake.url, "sees all", "-p", "lexical", "--text", "--budget")
    assert said_by_main(monkeypatch, capsys, *ask, "40") == (0, f"{text}\n", "")
    code, out, err = said_by_main(monkeypatch, capsys, *ask, "5")
    assert (code, out) == (0, "\n")
    assert "no turn of the pool fits" in err
    assert said_by_main(monkeypatch, capsys, *ask, "5", "--json")[0] == 2


@pytest.mark.cluster
def test_a_run_counts_the_slates_that_it_left_empty_and_one_that_made_none_counts_none(asked):
    assert empty_slates(asked.lake, asked.report).rows() == [(5, 5, 5), (40, 5, 3)]
    again, _ = ran(asked.lake, override(LEXICAL, "5,40", None))
    assert empty_slates(asked.lake, again).is_empty()
    out = io.StringIO()
    show_empty(empty_slates(asked.lake, asked.report), Console(file=out, width=80))
    assert out.getvalue().startswith("5 of 5 slates of 5 tokens are empty: ")
    assert "3 of 5 slates of 40 tokens" in out.getvalue()


@pytest.mark.cluster
def test_where_a_profile_has_no_run_those_that_have_one_are_named(asked):
    with pytest.raises(NoSnapshot, match=r"no run of profile agentmemrec: .* there are runs of lexical$"):
        show(asked.lake, "agentmemrec", None, "sees all")
