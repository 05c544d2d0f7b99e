"""`slatemill show` where evidence is absent, late or hostile, where a run or history is not what it seems, and on a
real item."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest
from inside import ITEMS, LEXICAL, delivered, printed, ran, stored
from shown import beside, named, table

from cluster.errors import SnapshotStale
from cluster.lake import Lake
from jobs.evaluate import evaluate
from jobs.ingest import ingest
from jobs.overrides import override
from jobs.run import Resources, run
from jobs.show import RequestNotFound, RequestUnfinished, SlateNotFound, show


def damaged(path) -> set[str]:
    """Damages the pages under a whole footer (what a bad disk does, and no plan sees); the histories of the file."""
    histories = set(pl.read_parquet(path)["history_id"])
    whole = path.read_bytes()
    path.write_bytes(whole[:4] + b"\xff" * 400 + whole[404:])
    return histories


@pytest.mark.cluster
def test_what_arrived_after_a_request_is_part_of_a_run_as_of_latest_only_and_changed_files_are_refused(tmp_path):
    lake = stored(tmp_path, ITEMS[:1])
    later = json.loads(json.dumps(ITEMS[:1]))
    later[0]["haystack_sessions"].append([{"role": "user", "content": "One more thing, said early."}])
    later[0]["haystack_dates"].append("2001/01/01 (Mon) 10:00")
    later[0]["haystack_session_ids"].append("late_arrival")
    (tmp_path / "later.json").write_text(json.dumps(later))
    first = table(lake, "turns").height
    ingest(lake, str(tmp_path / "later.json"), "longmemeval", {})
    _, run_id = ran(lake)
    shown = show(lake, "lexical", None, ITEMS[0]["question_id"])
    assert (shown.evidence.n_turns, shown.evidence.n_visible, shown.evidence.recall_repeats) == (first, first, True)
    ran(lake, override(LEXICAL, None, "latest"))
    shown = show(lake, "lexical", None, ITEMS[0]["question_id"])
    assert (shown.evidence.n_turns, shown.evidence.recall_repeats) == (first + 1, True)
    with pytest.raises(SnapshotStale):
        show(lake, "lexical", run_id, ITEMS[0]["question_id"])


@pytest.mark.cluster
def test_evidence_that_came_after_its_request_is_told_as_not_visible_and_its_citation_counts_as_found(tmp_path):
    told = {
        "history_id": "h",
        "sessions": [{"session_id": "a", "turns": [{"role": "user", "text": "I moved to Rome"}]}],
        "requests": [
            {
                "request_id": "q",
                "text": "What did I buy in Rome?",
                "evidence": [{"session": name, "turn": 0} for name in ("a", "b")],
            }
        ],
    }
    lake = stored(tmp_path, [told], "native")
    ran(lake)
    assert [note for note in show(lake, "lexical", None, "q").notes if "not stored" in note]
    later = {"session_id": "b", "turns": [{"role": "user", "text": "I bought a kite in Rome"}]}
    delivered(lake, tmp_path / "2", [{**told, "sessions": [*told["sessions"], later]}], "native")
    ran(lake)
    shown = show(lake, "lexical", None, "q")
    assert shown.evidence.turns.select("text_start", "visible").rows() == [
        ("I moved to Rome", True),
        ("I bought a kite in Rome", False),
    ]
    assert (shown.evidence.n_turns, set(shown.evidence.in_slate.filter(number=2)["lost"])) == (1, {"not_visible"})
    assert not [note for note in shown.notes if "not stored" in note]
    assert "I bought a kite in Rome" in printed(shown, 80)
    measured, _ = evaluate(lake, "lexical", None, draws=100, seed=0)
    assert (measured.with_unseen_evidence, measured.with_unresolved_citations) == (1, 0)
    ran(lake, override(LEXICAL, None, "latest"))
    assert show(lake, "lexical", None, "q").evidence.turns["visible"].to_list() == [True, True]
    measured, _ = evaluate(lake, "lexical", None, draws=100, seed=0)
    assert (measured.with_unseen_evidence, measured.with_unresolved_citations) == (0, 0)
    assert {row.slate_completeness.value for row in measured.rows if row.stratum == "all"} == {1.0}


@pytest.mark.cluster
def test_of_two_histories_with_one_request_id_history_picks(tmp_path):
    lines = [
        {
            "history_id": name,
            "sessions": [{"session_id": "s", "turns": [{"role": "user", "text": f"{name} moved to Rome"}]}],
            "requests": [{"request_id": "r", "text": "Where?", "evidence": [{"session": "s", "turn": 0}]}],
        }
        for name in ("ada", "bob")
    ]
    lake = stored(tmp_path, lines, "native")
    ran(lake)
    with pytest.raises(RequestNotFound, match=r"--history\. They are ada, bob"):
        show(lake, "lexical", None, "r")
    for name in ("ada", "bob"):
        shown = show(lake, "lexical", None, "r", name)
        assert shown.evidence.turns["text_start"].to_list() == [f"{name} moved to Rome"]
    with pytest.raises(RequestNotFound, match=r"no request 'q' of history 'ada'\. Near it: r"):
        show(lake, "lexical", None, "q", "ada")


@pytest.mark.cluster
def test_without_evidence_the_oracle_says_nothing_and_is_left_out(tmp_path):
    said = [{"role": "user", "text": "Ada moved to Rome."}]
    asked = [{"request_id": "q", "text": "Where does Ada live?"}]
    line = {"history_id": "h", "sessions": [{"session_id": "s", "turns": said}], "requests": asked}
    lake = stored(tmp_path, [line], "native")
    ran(lake)
    assert set(table(lake, "oracle_slates", "lexical")["request_id"]) == {"q"}
    shown = show(lake, "lexical", None, "q")
    assert {row["policy"] for row in shown.as_dict()["slates"]} == {"recall_order"}
    assert "oracle" not in printed(shown, 80)
    with pytest.raises(SlateNotFound, match=r"of policy oracle where no evidence is known: .* are recall_order$"):
        show(lake, "lexical", None, "q", policy="oracle")
    alone = named("alone", 6).model_copy(update={"slates": LEXICAL.slates.model_copy(update={"policies": ("oracle",)})})
    ran(lake, alone)
    nothing = show(lake, "alone", None, "q")
    assert nothing.slate is None
    assert (
        nothing.notes[-1] == "the request has no slate but the oracle's, which says nothing where no evidence is known"
    )


@pytest.mark.cluster
def test_a_cited_turn_that_is_not_stored_is_said_to_be_left_out(tmp_path):
    cited = [{"session": "s", "turn": turn} for turn in (0, 7)]
    line = {
        "history_id": "ada",
        "sessions": [{"session_id": "s", "turns": [{"role": "user", "text": "ada moved to Rome"}]}],
        "requests": [{"request_id": "r", "text": "Rome?", "evidence": cited}],
    }
    lake = stored(tmp_path, [line], "native")
    ran(lake)
    shown = show(lake, "lexical", None, "r")
    assert shown.evidence.turns.height == 1
    assert [note for note in shown.notes if note.startswith("1 cited turn(s) are not stored")]


@pytest.mark.cluster
def test_many_evidence_turns_hidden_ones_and_hostile_text_are_printed_within_80_columns(tmp_path):
    texts = ["\x1b[31mred\x07 [bold]kite[/bold]", "moss " * 40, *[f"kite number {place}" for place in range(26)]]
    turns = [{"role": "user", "text": text} for text in texts]
    line = {
        "history_id": "eve",
        "sessions": [
            {"session_id": "a_session_" * 9, "time": "2024-01-01", "turns": turns},
            {"session_id": "late", "time": "2024-03-01", "turns": [{"role": "user", "text": "kite, later"}]},
        ],
        "requests": [
            {"request_id": "r", "text": "Which \x1b[2J bold kite? " * 60, "asked_at": "2024-02-01",
             "evidence": [*[{"session": 0, "turn": place} for place in range(28)], {"session": 1, "turn": 0}]}
        ],
    }  # fmt: skip
    lake = stored(tmp_path, [line], "native")
    ran(lake, named("lexical", 20))
    shown = show(lake, "lexical", None, "r")
    text = printed(shown, 80)
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "\x1b" not in text
    slate, marks = beside(printed(shown, 9000))
    assert "user:  [31mred  [bold]kite[/bold]" in slate
    assert {mark for mark, _ in marks} == {f"★{turn['evidence']}" for turn in shown.slate.turns.to_dicts()}
    assert "[31mred [bold]kite[/bold]" in text
    assert re.search(r"\bnot +[^\n]*\n +visible\b", text)
    assert "the request sees 28 of 29 turns" in text
    assert text.count(": not") == 8
    assert {str(number) for number in range(1, 30)} <= set(text[text.index("slates, and") :].split())
    marks = [(line.count("✓"), line.count("✗")) for line in text.splitlines() if "✓" in line or "✗" in line]
    assert [sum(pair) for pair in marks] == [10] * 4 + [10] * 4 + [9] * 4
    assert sum(pair[0] for pair in marks) == shown.evidence.in_slate["in_slate"].sum() > 0


@pytest.mark.cluster
def test_a_request_that_a_failed_run_did_not_get_to_is_refused_and_the_others_are_shown(tmp_path):
    lake = stored(tmp_path, ITEMS)
    unrecalled, unjudged = (damaged(sorted(tmp_path.glob(f"lake/{name}/*/*.parquet"))[place]) for name, place in
                            (("turns", 0), ("labels", 1)))  # fmt: skip
    report, _ = run(lake, LEXICAL, Resources(workers=1), None, None)
    assert report.exit_code == 1
    shown = 0
    for row in table(lake, "requests").to_dicts():
        if row["history_id"] in unrecalled:
            with pytest.raises(RequestNotFound, match="ended with code 1 and did not get to all"):
                show(lake, "lexical", None, row["request_id"])
        elif row["history_id"] in unjudged:
            with pytest.raises(RequestUnfinished, match="did not make oracle_slates of"):
                show(lake, "lexical", None, row["request_id"])
        else:
            shown += show(lake, "lexical", None, row["request_id"]).evidence.slates.height > 0
    assert shown == len(ITEMS) - len(unrecalled | unjudged) > 0


@pytest.mark.cluster
def test_the_real_items_evidence_is_found_first_by_bm25(real_data, tmp_path):
    lake = Lake.init(str(tmp_path / "lake"))
    ingest(lake, str(real_data / "longmemeval" / "one_item.json"), "longmemeval", {})
    ran(lake)
    found = show(lake, "lexical", None, "e47becba").as_dict()
    assert [(row["session"], row["turn_index"]) for row in found["evidence"]] == [(51, 4), (51, 5)]
    assert [row["bm25_rank"] for row in found["evidence"]] == [1, 2]
    assert [row["pool_position"] for row in found["evidence"]] == [1, 2]
    assert {row["source_session"] for row in found["evidence"]} == {"answer_280352e9"}
    slate = found["slate"]
    assert (slate["policy"], slate["budget"], slate["lines_known"]) == ("recall_order", 900, True)
    gold = [turn for turn in slate["turns"] if turn["evidence"]]
    assert (
        "I graduated with a degree in Business Administration"
        in slate["text"][gold[0]["line_start"] : gold[0]["line_end"]]
    )
    for row in found["evidence"]:
        held = [turn["evidence"] for turn in gold]
        assert (row["lost"]["recall_order"]["900"] is None) == (row["number"] in held)
    _, marks = beside(printed(show(lake, "lexical", None, "e47becba"), 9000))
    assert [mark for mark, _ in marks if mark] == [f"★{turn['evidence']}" for turn in gold]
    assert (found["request"]["kappa"], found["request"]["n_visible"]) == (1, 550)
