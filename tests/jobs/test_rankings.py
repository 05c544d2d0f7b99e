"""Rankings of another system: imported, filled, evaluated; read again, replaced, broken off, and out of date."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from inside import ITEMS, LEXICAL, contents, delivered, ran, said_by_main, stored

from cluster import tables
from cluster.batches import committed
from cluster.errors import SnapshotStale
from cluster.lake import Lake
from jobs.config import Profile
from jobs.evaluate import evaluate
from jobs.import_ranking import NameTaken, import_ranking
from jobs.overrides import override
from jobs.quarantine import kept_aside, rows_aside
from jobs.rankings import RankingNotThere, rankings_of, require_rankings
from jobs.show import show
from pipeline import schemas
from pipeline.evaluate.summary import Row
from pipeline.ingest.errors import IngestError


def beside(*names: str) -> Profile:
    slates = LEXICAL.slates.model_copy(update={"policies": ("recall_order", *names), "budgets": (300, 900)})
    return LEXICAL.model_copy(update={"name": "beside", "slates": slates})


MEM0 = beside("mem0")


def says(*texts: str) -> list[dict[str, str]]:
    return [{"role": "user", "text": text, "turn_id": f"t{place}"} for place, text in enumerate(texts)]


HISTORY = {
    "history_id": "h",
    "sessions": [
        {"session_id": "a", "time": "2024-01-01T10:00:00Z", "turns": says("I keep bees.", "On the roof.")},
        {"session_id": "b", "time": "2024-01-09T10:00:00Z", "turns": says("The bees swarmed.")},
    ],
    "requests": [
        {"request_id": "q", "text": "What do I keep?", "evidence": [{"session": "a", "turn": "t0"}]},
        {"request_id": "early", "text": "What do I keep?", "asked_at": "2024-01-05T00:00:00Z"},
    ],
}


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lake:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return stored(tmp_path, [HISTORY], "native")


def ranked(folder: Path, *rows: tuple[str, str, str, float], name: str = "mem0.parquet") -> str:
    """A file with rows of request, session, turn and score."""
    path = folder / name
    pl.DataFrame(rows, ["request_id", "source_session", "source_turn", "score"], orient="row").write_parquet(path)
    return str(path)


def rows_of(lake: Lake, name: str = "mem0") -> list[tuple]:
    found = lake.scan("rankings", policy=name, schema=schemas.RANKINGS)
    return found.sort("request_id", "session_index", "turn_index").collect().drop("history_id").rows()


FIRST = 1 << 20


@pytest.mark.flash
def test_ids_become_stored_turns_and_what_is_wrong_is_counted_and_put_aside_with_its_reason(lake, tmp_path) -> None:
    source = ranked(
        tmp_path,
        ("q", "a", "t1", 0.5),
        ("q", "b", "t0", 0.9),
        ("early", "a", "t0", 0.7),
        ("early", "b", "t0", 0.9),
        ("q", "a", "t9", 0.1),
        ("nobody", "a", "t0", 0.1),
    )
    report = import_ranking(lake, source, "mem0")
    assert rows_of(lake) == [("early", FIRST, 0, 0.7), ("q", FIRST, 1, 0.5), ("q", FIRST + 1, 0, 0.9)]
    assert (report.already, report.lost, report.lost_share) == (False, 2, 2 / 6)
    counts = {"rows": 6, "turns": 3, "requests": 2, "unseen": 1, "repeated": 0}
    assert report.counts == {**counts, "lost_unknown_turn": 1, "lost_unknown_request": 1}
    aside = rows_aside(lake, "rankings")
    assert set(aside.select("choice", "file", "place", "code").rows()) == {
        ("policy=mem0", "mem0.parquet", "row 4", "unknown_turn"),
        ("policy=mem0", "mem0.parquet", "row 5", "unknown_request"),
    }
    assert [group.stage for group in kept_aside(lake, profile=MEM0)] == ["rankings", "rankings"]
    assert kept_aside(lake, profile=LEXICAL) == []


@pytest.mark.flash
def test_the_same_file_again_is_a_no_op(lake, tmp_path) -> None:
    source = ranked(tmp_path, ("q", "a", "t1", 0.5), ("q", "a", "t9", 0.5))
    first = import_ranking(lake, source, "mem0")
    before = contents(lake)
    again = import_ranking(lake, source, "mem0")
    assert (again.already, again.counts, again.lost) == (True, first.counts, first.lost)
    assert contents(lake) == before


@pytest.mark.flash
def test_another_file_under_the_name_replaces_it_and_its_quarantine_and_leaves_other_names_alone(
    lake, tmp_path
) -> None:
    import_ranking(lake, ranked(tmp_path, ("q", "a", "t1", 0.5), ("q", "a", "t9", 0.5)), "mem0")
    import_ranking(lake, ranked(tmp_path, ("q", "a", "t1", 0.5)), "other")
    import_ranking(lake, ranked(tmp_path, ("q", "b", "t0", 2.0)), "mem0")
    assert rows_of(lake) == [("q", FIRST + 1, 0, 2.0)]
    assert rows_of(lake, "other") == [("q", FIRST, 1, 0.5)]
    assert rows_aside(lake, "rankings").is_empty()
    assert list(rankings_of(lake)) == ["mem0", "other"]


@pytest.mark.flash
def test_a_folder_of_files_is_one_ranking(lake, tmp_path) -> None:
    folder = tmp_path / "ranked"
    folder.mkdir()
    ranked(folder, ("q", "a", "t1", 0.5), name="1.parquet")
    ranked(folder, ("q", "a", "t0", 0.4), ("q", "a", "t9", 0.3), name="2.parquet")
    assert import_ranking(lake, str(folder), "mem0").counts["turns"] == 2
    assert rows_aside(lake, "rankings").select("file", "place").rows() == [("2.parquet", "row 1")]


@pytest.mark.flash
def test_a_ranking_that_is_not_there_is_asked_for_with_its_command_and_those_there_are(lake, tmp_path) -> None:
    import_ranking(lake, ranked(tmp_path, ("q", "a", "t1", 0.5)), "zep")
    with pytest.raises(RankingNotThere, match=r"mem0 was not imported.*zep.*rankings import .* --name mem0.*knapsack"):
        require_rankings(lake, MEM0)
    require_rankings(lake, beside("zep"))


@pytest.mark.flash
def test_an_import_that_was_broken_off_is_not_read_and_can_be_finished(lake, tmp_path, monkeypatch) -> None:
    first, second = (ranked(tmp_path, ("q", "a", turn, 0.5), name=f"{turn}.parquet") for turn in ("t0", "t1"))
    others = [{**HISTORY, "history_id": f"h{number}", "requests": []} for number in range(4)]
    delivered(lake, tmp_path / "2", others, "native")
    import_ranking(lake, first, "mem0")
    require_rankings(lake, MEM0)
    with monkeypatch.context() as broken:
        broken.setattr(tables, "publish", _killed_after(tables.publish, 1))
        with pytest.raises(KeyboardInterrupt):
            import_ranking(lake, second, "mem0")
    with pytest.raises(RankingNotThere, match="broken off"):
        require_rankings(lake, MEM0)
    import_ranking(lake, second, "mem0")
    require_rankings(lake, MEM0)
    assert rows_of(lake) == [("q", FIRST, 1, 0.5)]


def _killed_after(call, writes: int):
    left = [writes]

    def killed(*arguments):
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return call(*arguments)

    return killed


@pytest.mark.flash
def test_after_an_ingest_a_ranking_is_asked_for_again_and_then_knows_the_new_requests(lake, tmp_path) -> None:
    source = ranked(tmp_path, ("q", "a", "t0", 0.5), ("later", "a", "t1", 0.5))
    assert import_ranking(lake, source, "mem0").lost == 1
    request = {"request_id": "later", "text": "And where?"}
    delivered(lake, tmp_path / "2", [{"history_id": "h", "requests": [request]}], "native")
    name = committed(lake)[-1].name
    with pytest.raises(RankingNotThere, match=f"imported before batch {name} arrived: import it again"):
        require_rankings(lake, MEM0)
    again = import_ranking(lake, source, "mem0")
    assert (again.already, again.lost) == (False, 0)
    assert rows_of(lake) == [("later", FIRST, 1, 0.5), ("q", FIRST, 0, 0.5)]
    require_rankings(lake, MEM0)


@pytest.mark.flash
@pytest.mark.parametrize("name", ["lambdarank", "oracle", "bm25_order", "mine_order", "knapsak"])
def test_a_name_that_is_a_policy_s_or_like_one_is_refused(name, lake, tmp_path) -> None:
    with pytest.raises(NameTaken, match=f"cannot be called {name}"):
        import_ranking(lake, ranked(tmp_path, ("q", "a", "t0", 0.5)), name)


@pytest.mark.flash
@pytest.mark.parametrize("content", [b"", b"no Parquet", b"PAR1 cut short"])
def test_what_is_no_parquet_is_refused_by_name(content, lake, tmp_path) -> None:
    path = tmp_path / "broken.parquet"
    path.write_bytes(content)
    with pytest.raises(IngestError, match=r"broken\.parquet"):
        import_ranking(lake, str(path), "mem0")
    assert rankings_of(lake) == {}


@pytest.mark.flash
def test_the_command_says_what_it_stored_and_ends_with_3_over_the_limit(lake, tmp_path, monkeypatch, capsys) -> None:
    good = ranked(tmp_path, ("q", "a", "t0", 0.5))
    code, out, _ = said_by_main(monkeypatch, capsys, "rankings", "import", lake.url, good, "--name", "mem0")
    assert (code, out.strip()) == (0, "mem0: imported, 1 turns ranked for 1 requests, of 1 rows")
    bad = ranked(tmp_path, ("q", "a", "t9", 0.5), ("early", "b", "t0", 0.5), name="bad.parquet")
    code, out, err = said_by_main(monkeypatch, capsys, "rankings", "import", lake.url, bad, "--name", "mem0")
    assert code == 3
    assert "1 dropped: the request must not see the turn" in out
    assert "slatemill quarantine show" in out
    assert "exit code 3" in err
    code, out, _ = said_by_main(monkeypatch, capsys, "rankings", "import", lake.url, good, "-n", "mem0", "--json")
    assert json.loads(out)["counts"]["turns"] == 1
    _, out, _ = said_by_main(monkeypatch, capsys, "rankings", "list", lake.url, "--json")
    assert [entry["name"] for entry in json.loads(out)] == ["mem0"]


def slates_of(lake: Lake, policy: str) -> pl.DataFrame:
    slates = pl.read_parquet(f"{lake.url}/slates/profile=beside/*/*.parquet", hive_partitioning=False)
    return slates.filter(policy=policy).sort("history_id", "request_id", "budget")


def row_of(lake: Lake, policy: str, budget: int = 900) -> Row:
    measured, _ = evaluate(lake, "beside", None, 100, 0)
    return next(row for row in measured.rows if (row.stratum, row.policy, row.budget) == ("all", policy, budget))


@pytest.mark.cluster
def test_a_ranking_gives_slates_and_a_row_of_its_own_and_changes_nothing_of_the_others(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lake = stored(tmp_path, ITEMS)
    ran(lake, beside())
    alone = slates_of(lake, "recall_order")
    # Another system that is never wrong about half of the requests, and knows nothing of the others.
    labels = lake.scan("labels").join(lake.scan("sources"), on=list(schemas.TURN_KEY)).collect()
    known = labels["request_id"].unique().sort()[::2]
    position = pl.col("turn_key").str.slice(1).cast(pl.Int64)
    ranking = labels.filter(pl.col("request_id").is_in(known.implode())).select(
        "request_id", "source_session", source_turn=position, score=pl.lit(1.0)
    )
    ranking.write_parquet(tmp_path / "mem0.parquet")
    assert import_ranking(lake, str(tmp_path / "mem0.parquet"), "mem0").lost == 0
    ran(lake, MEM0)
    assert slates_of(lake, "recall_order").equals(alone)
    answered = slates_of(lake, "mem0").filter(pl.col("n_tokens") > 0)["request_id"].unique().sort()
    assert answered.to_list() == known.to_list()
    row, n = row_of(lake, "mem0"), labels["request_id"].n_unique()
    assert row.n == n
    assert row.r_pool.value == pytest.approx(len(known) / n)
    assert row.r_rank.value == 1.0
    assert row_of(lake, "recall_order").r_pool.value != row.r_pool.value
    report, _ = ran(lake, MEM0)
    assert not report.used_ray, "nothing has changed"

    shown = show(lake, "beside", None, known[0], policy="mem0")
    assert shown.evidence.in_slate.filter(policy="mem0", budget=900)["in_slate"].all()
    nothing = next(name for name in labels["request_id"].unique().sort() if name not in known)
    shown = show(lake, "beside", None, nothing, policy="mem0")
    assert shown.empty is not None
    assert "ranking mem0 names no turn" in shown.empty
    assert set(shown.evidence.in_slate.filter(policy="mem0")["lost"]) == {"not_in_pool"}


@pytest.mark.cluster
def test_slates_of_a_ranking_that_was_replaced_are_made_anew_and_the_run_of_before_is_refused(lake, tmp_path) -> None:
    import_ranking(lake, ranked(tmp_path, ("q", "a", "t0", 0.5)), "mem0")
    ran(lake, MEM0)
    assert slates_of(lake, "mem0").filter(request_id="q")["text"][0].endswith("user: I keep bees.")
    assert row_of(lake, "mem0").slate_completeness.value == 1
    import_ranking(lake, ranked(tmp_path, ("q", "a", "t1", 0.5)), "mem0")
    with pytest.raises(SnapshotStale, match="rankings/policy=mem0"):
        evaluate(lake, "beside", None, 100, 0)
    ran(lake, MEM0)
    assert slates_of(lake, "mem0").filter(request_id="q")["text"][0].endswith("user: On the roof.")
    assert row_of(lake, "mem0").r_pool.value == 0


@pytest.mark.cluster
def test_a_turn_that_arrived_after_the_request_is_shown_by_a_run_of_the_latest_alone(lake, tmp_path) -> None:
    more = {"session_id": "c", "turns": says("And hives in the garden.")}
    delivered(lake, tmp_path / "2", [{"history_id": "h", "sessions": [more]}], "native")
    import_ranking(lake, ranked(tmp_path, ("q", "c", "t0", 0.9), ("q", "a", "t0", 0.5)), "mem0")
    ran(lake, MEM0)
    assert not slates_of(lake, "mem0")["text"].str.contains("garden").any()
    ran(lake, override(MEM0, None, "latest"))
    assert slates_of(lake, "mem0").filter(request_id="q")["text"].str.contains("garden").all()


@pytest.mark.cluster
def test_sessions_that_come_later_change_no_byte_of_an_earlier_slate_of_a_ranking(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    lake = stored(tmp_path, ITEMS)
    turns = lake.scan("turns").join(lake.scan("sources"), on=list(schemas.TURN_KEY)).collect()
    ranking = turns.join(lake.scan("requests").select("history_id", "request_id").collect(), on="history_id").select(
        "request_id", "source_session", source_turn=pl.col("turn_key").str.slice(1).cast(pl.Int64), score="n_tokens"
    )
    source = str(tmp_path / "mem0.parquet")
    ranking.write_parquet(source)
    import_ranking(lake, source, "mem0")
    ran(lake, MEM0)
    before = slates_of(lake, "mem0")
    sessions = [{"session_id": "z", "turns": says("Something that comes later.")}]
    later = [{"history_id": item["question_id"], "sessions": sessions} for item in ITEMS]
    delivered(lake, tmp_path / "more", later, "native")
    assert not import_ranking(lake, source, "mem0").already
    report, _ = ran(lake, MEM0)
    assert slates_of(lake, "mem0").equals(before)
    slates = next(stage for stage in report.stages if stage.name == "slates")
    assert slates.reused == len({bucket for batch in committed(lake)[:1] for bucket in batch.buckets})
