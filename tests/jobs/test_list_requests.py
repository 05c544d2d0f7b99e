"""`slatemill requests` on real lakes: the ids that `show` takes, read from no more files than it must."""

from __future__ import annotations

import io
import json
import uuid
from pathlib import Path

import polars as pl
import pytest
from inside import ITEMS, delivered, said_by_main, stored
from rich.console import Console

from cluster.lake import Lake
from jobs.list_requests import Listed, list_requests
from jobs.list_requests_report import show_listed

pytestmark = pytest.mark.flash


def printed(listed: Listed) -> list[str]:
    target = io.StringIO()
    show_listed(listed, Console(file=target, width=80))
    return target.getvalue().splitlines()


def asking(history: str, *ids: str, text: str = "Where does Ada live?") -> dict:
    said = [{"role": "user", "text": "Ada moved to Rome."}]
    asked = [{"request_id": name, "text": text} for name in ids]
    return {"history_id": history, "sessions": [{"session_id": "s", "turns": said}], "requests": asked}


@pytest.fixture(params=["local", "memory"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """Two batches: first the generated histories, then one of two requests."""
    made = Lake.init(str(tmp_path / "lake") if request.param == "local" else f"memory://{uuid.uuid4().hex}/lake")
    delivered(made, tmp_path / "first.json", ITEMS)
    delivered(made, tmp_path / "second.json", [asking("ada", "q1", "q2")], "native")
    return made


def test_all_are_listed_in_order_of_arrival_and_those_beyond_the_limit_are_counted(lake):
    every = list_requests(lake)
    assert (every.total, every.rows.height) == (len(ITEMS) + 2, len(ITEMS) + 2)
    assert set(every.rows["request_id"][:-2]) == {item["question_id"] for item in ITEMS}
    assert every.rows["request_id"][-2:].to_list() == ["q1", "q2"]
    few = list_requests(lake, limit=2)
    assert few.rows.equals(every.rows.head(2))
    assert few.total == every.total
    assert "answer" not in every.rows.columns
    assert printed(few)[-1] == f"2 of {every.total} requests; --limit shows more"
    assert printed(every)[-1] == f"{every.total} of {every.total} requests"


def test_of_one_history_its_own_are_listed_and_of_an_unknown_one_none(lake):
    own = list_requests(lake, "ada")
    assert (own.total, set(own.rows["history_id"]), own.rows["request_id"].to_list()) == (2, {"ada"}, ["q1", "q2"])
    (item, *_) = ITEMS
    assert list_requests(lake, item["question_id"]).rows["text"].to_list() == [item["question"]]
    assert list_requests(lake, "bob").total == 0
    assert printed(list_requests(lake, "bob")) == [f"{lake.url} has no request of history bob"]


def test_no_file_is_opened_that_cannot_hold_what_is_listed(tmp_path):
    lake = stored(tmp_path, ITEMS)
    first, *_, last = sorted(Path(lake.url).glob("requests/*/*.parquet"))
    told = list_requests(lake, limit=1)
    # Damaged pages under a whole footer: what is counted is not read.
    whole = last.read_bytes()
    last.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    assert list_requests(lake, limit=1).rows.equals(told.rows)
    assert list_requests(lake, limit=1).total == told.total
    # No Parquet at all: of a history of another bucket nothing else is looked at.
    last.write_bytes(b"nothing")
    history = pl.read_parquet(first)["history_id"].first()
    assert set(list_requests(lake, history).rows["history_id"]) == {history}


def test_an_id_stays_in_one_piece_and_a_text_on_one_line(tmp_path):
    long = "request-" + "x" * 90
    text = "Where\n\tdoes \x1b[31mAda live? " + "And since when? " * 20
    lake = stored(tmp_path, [asking("ada", long, text=text)], "native")
    head, begun, counted = printed(list_requests(lake))
    assert head == f"{long}, reader, no time, of history ada"
    assert begun.startswith("  Where does [31mAda live? And since when?")
    assert (len(begun), begun[-1]) == (80, "…")
    assert counted == "1 of 1 request"


def test_json_is_all_that_is_written_and_mistakes_end_with_code_2(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lake = stored(tmp_path, [asking("ada", "q1", "q2")], "native")
    capsys.readouterr()
    code, out, err = said_by_main(monkeypatch, capsys, "requests", "lake", "--history", "ada", "--limit", "1", "--json")
    assert (code, json.loads(out), err) == (0, list_requests(lake, "ada", 1).as_dict(), "")
    assert json.loads(out)["requests"][0]["request_id"] == "q1"
    assert said_by_main(monkeypatch, capsys, "requests", "lake")[1].startswith("q1, reader, no time, of history ada")
    code, out, err = said_by_main(monkeypatch, capsys, "requests", "nowhere")
    assert (code, out) == (2, "")
    assert "slatemill init nowhere" in err.replace("\n", " ")
